import type { JsonObject } from '@whetstone/events';
import { objectAt, objectsAt } from './json-reading.ts';
import type { WireProtocol } from './neutral.ts';

/** A piece of a text that a stream cuts up: which text of the response, and the field with the piece. */
export type Delta = { text: string; event: JsonObject; holder: JsonObject; field: string };

/** The pieces of texts that an event of a stream has. */
export function deltasOf(event: JsonObject, wire: WireProtocol): Delta[] {
  const pieces = (text: string, holder: JsonObject, fields: string[]): Delta[] =>
    fields
      .filter((field) => typeof holder[field] === 'string')
      .map((field) => ({ text: `${text} ${field}`, event, holder, field }));
  switch (wire) {
    case 'openai-responses': {
      const { type, item_id: item, content_index: part, summary_index: summary } = event;
      return pieces([type, item, part, summary].join(' '), event, ['delta']);
    }
    case 'openai-chat-completions':
      return objectsAt(event, 'choices').flatMap((choice) => {
        const delta = objectAt(choice, 'delta');
        const calls = objectsAt(delta, 'tool_calls').flatMap((call) => [
          ...pieces(`${choice.index} ${call.index}`, objectAt(call, 'function'), ['arguments']),
          ...pieces(`${choice.index} ${call.index}`, objectAt(call, 'custom'), ['input']),
        ]);
        return [...pieces(`${choice.index}`, delta, ['content', 'reasoning_content', 'reasoning']), ...calls];
      });
    case 'anthropic-messages':
      return pieces(`${event.index}`, objectAt(event, 'delta'), ['text', 'thinking', 'partial_json']);
    case 'gemini-generate-content':
      return objectsAt(event, 'candidates').flatMap((candidate) =>
        objectsAt(objectAt(candidate, 'content'), 'parts').flatMap((part) =>
          pieces(`${candidate.index} ${part.thought}`, part, ['text']),
        ),
      );
  }
}
