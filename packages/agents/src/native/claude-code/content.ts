import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { messageEvents, thinkingEvents } from '../../kit/mapped-events.ts';
import type { OpenTexts } from '../../kit/open-texts.ts';
import type { ToolCalls, ToolOutcome } from './tool-calls.ts';

/** The blocks of an assistant's message. A block of an unknown kind becomes a `raw` event. */
export function assistantEvents(content: JsonValue | undefined, calls: Calls): StreamEvent[] {
  return blocksOf(content).flatMap((block): StreamEvent[] => {
    switch (block.type) {
      case 'text':
        return messageEvents('assistant', requiredText(block.text));
      // Hidden thinking has a signature and no text.
      case 'thinking':
        return thinkingEvents(requiredText(block.thinking));
      case 'tool_use': {
        const { name, input } = calls.unwrap(requiredText(block.name), block.input ?? {});
        return calls.tools.called(requiredText(block.id), name, input);
      }
      default:
        return [{ type: 'raw', native: block }];
    }
  });
}

/** Parts of a streaming message. The whole message follows them. */
export const MESSAGE_PARTS: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
]);

/** Takes a part of a streaming message. Returns the text of a message before it that was cut off. */
export function takePart(
  texts: OpenTexts,
  part: JsonObject,
  parentCallId: string | undefined,
): StreamEvent[] {
  const caller = parentCallId ?? '';
  const delta = objectIn(part.delta);
  if (part.type === 'message_start') return texts.cutOff(caller);
  if (part.type === 'content_block_delta' && typeof delta?.text === 'string') {
    texts.add(caller, delta.text, present({ parentCallId }));
  }
  return [];
}

/** The open calls of a session. `unwrap` finds the real call when a tool only calls another tool. */
export type Calls = {
  tools: ToolCalls;
  unwrap: (name: string, input: JsonValue) => { name: string; input: JsonValue };
};

/** A message with the role `user`: a prompt, tool results, or text that the agent adds by itself. */
export type UserMessage = {
  content: JsonValue | undefined;
  /** Whether the text is a prompt, from a person or from the agent that called this one. */
  isPrompt: boolean;
  outcomeOf: (block: JsonObject) => ToolOutcome;
};

/** The events of a user message; `undefined` if no part of it has a mapping. */
export function userEvents(
  { content, isPrompt, outcomeOf }: UserMessage,
  tools: ToolCalls,
): StreamEvent[] | undefined {
  const blocks = blocksOf(content);
  if (!isPrompt && !blocks.some(({ type }) => type === 'tool_result')) return undefined;
  return blocks.flatMap((block): StreamEvent[] => {
    if (block.type === 'tool_result') return tools.result(outcomeOf(block));
    if (block.type === 'text' && isPrompt) return messageEvents('user', requiredText(block.text));
    return [{ type: 'raw', native: block }];
  });
}

/** The fields of a tool result that every agent reports. Content with only one text becomes that text. */
export function plainOutcome(block: JsonObject): ToolOutcome {
  return {
    callId: requiredText(block.tool_use_id),
    output: plainText(block.content) ?? block.content,
    status: block.is_error === true ? 'failed' : 'completed',
  };
}

/** The text of content that has exactly one block, a text; otherwise `undefined`. */
export function plainText(content: JsonValue | undefined): string | undefined {
  if (!Array.isArray(content)) return textIn(content);
  const block = content.length === 1 ? objectIn(content[0]) : undefined;
  return block?.type === 'text' ? textIn(block.text) : undefined;
}

/** Content is a text or a list of blocks. For anything else this throws, and the reader keeps the whole item. */
function blocksOf(content: JsonValue | undefined): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = objectsIn(content);
  if (!Array.isArray(content) || blocks.length !== content.length) throw new TypeError('No content.');
  return blocks;
}
