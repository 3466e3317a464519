import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { ToolCalls, ToolOutcome } from './tool-calls.ts';

/** The blocks of an assistant's message. One of an unknown kind is kept whole. */
export function assistantEvents(
  content: JsonValue | undefined,
  calls: Calls,
  envelope: EventEnvelope,
): StreamEvent[] {
  return blocksOf(content).flatMap((block): StreamEvent[] => {
    switch (block.type) {
      case 'text':
        return said('assistant', requiredText(block.text), envelope);
      case 'thinking': {
        // What a model keeps to itself comes as a signature without words.
        const text = requiredText(block.thinking);
        return text === '' ? [] : [{ type: 'thinking', text, ...envelope }];
      }
      case 'tool_use': {
        const { name, input } = calls.unwrap(requiredText(block.name), block.input ?? {});
        return calls.tools.called(requiredText(block.id), name, input, envelope);
      }
      default:
        return [{ type: 'raw', native: block, ...envelope }];
    }
  });
}

/** Parts of a message that streams, which comes whole behind them. */
export const MESSAGE_PARTS: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
]);

/** What the calls of an agent's messages need: the open ones, and a look into tools that only call another one. */
export type Calls = {
  tools: ToolCalls;
  unwrap: (name: string, input: JsonValue) => { name: string; input: JsonValue };
};

/** A message with the role of the user: what a person says, what tools say, what the agent puts in on its own. */
export type UserMessage = {
  content: JsonValue | undefined;
  /** Whether its text is a person's, or that of the agent which called this one. */
  isPrompt: boolean;
  outcomeOf: (block: JsonObject) => ToolOutcome;
};

/** `undefined` where nothing of it has a mapping. */
export function userEvents(
  { content, isPrompt, outcomeOf }: UserMessage,
  tools: ToolCalls,
  envelope: EventEnvelope,
): StreamEvent[] | undefined {
  const blocks = blocksOf(content);
  if (!isPrompt && !blocks.some(({ type }) => type === 'tool_result')) return undefined;
  return blocks.flatMap((block): StreamEvent[] => {
    if (block.type === 'tool_result') return tools.result(outcomeOf(block), envelope);
    if (block.type === 'text' && isPrompt) return said('user', requiredText(block.text), envelope);
    return [{ type: 'raw', native: block, ...envelope }];
  });
}

/** The result of a tool as far as every agent tells it. Content that is one text becomes that text. */
export function plainOutcome(block: JsonObject): ToolOutcome {
  return {
    callId: requiredText(block.tool_use_id),
    output: plainText(block.content) ?? block.content,
    status: block.is_error === true ? 'failed' : 'completed',
  };
}

/** The text of content that is nothing but one text. */
export function plainText(content: JsonValue | undefined): string | undefined {
  if (!Array.isArray(content)) return textIn(content);
  const block = content.length === 1 ? objectIn(content[0]) : undefined;
  return block?.type === 'text' ? textIn(block.text) : undefined;
}

const said = (role: 'assistant' | 'user', text: string, envelope: EventEnvelope): StreamEvent[] =>
  text === '' ? [] : [{ type: 'message', role, text, ...envelope }];

/** Content is a text or a list of blocks. Anything else, the reader keeps whole. */
function blocksOf(content: JsonValue | undefined): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = objectsIn(content);
  if (!Array.isArray(content) || blocks.length !== content.length) throw new TypeError('No content.');
  return blocks;
}
