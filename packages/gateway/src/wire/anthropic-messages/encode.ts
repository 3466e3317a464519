import type { JsonObject, Usage } from '@whetstone/events';
import type { NeutralReply, NeutralToolCall } from '../neutral.ts';
import { serverSentEvent, textDeltas } from '../server-sent-events.ts';

/** The body of a reply that is not streamed: a `message` object of the Anthropic Messages API. */
export function encodeMessage(reply: NeutralReply): JsonObject {
  return {
    ...openMessage(reply),
    content: contentBlocks(reply).map((block) => block.whole),
    stop_reason: stopReason(reply),
    usage: { ...inputUsage(reply.usage), ...outputUsage(reply.usage) },
  };
}

/** The events of a streamed reply, in the order of the Anthropic Messages API, as server-sent events. */
export function* streamMessage(reply: NeutralReply): Generator<string> {
  yield serverSentEvent({ type: 'message_start', message: openMessage(reply) });
  yield serverSentEvent({ type: 'ping' });
  for (const [index, block] of contentBlocks(reply).entries()) {
    yield serverSentEvent({ type: 'content_block_start', index, content_block: block.opening });
    for (const delta of block.deltas()) yield serverSentEvent({ type: 'content_block_delta', index, delta });
    yield serverSentEvent({ type: 'content_block_stop', index });
  }
  yield serverSentEvent({
    type: 'message_delta',
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { ...inputUsage(reply.usage), ...outputUsage(reply.usage) },
  });
  yield serverSentEvent({ type: 'message_stop' });
}

/** A content block: the whole block, the block that opens it in a stream, and what the stream adds to that. */
type Block = { whole: JsonObject; opening: JsonObject; deltas: () => Iterable<JsonObject> };

function contentBlocks(reply: NeutralReply): Block[] {
  const blocks: Block[] = [];
  if (reply.thinking) blocks.push(thinkingBlock(reply.thinking, reply.id));
  if (reply.text) blocks.push(textBlock(reply.text));
  for (const call of reply.toolCalls) blocks.push(toolUseBlock(call));
  return blocks;
}

function thinkingBlock(thinking: string, replyId: string): Block {
  // The provider signs its reasoning. Clients keep the signature and send it back without reading it.
  const signature = Buffer.from(`whetstone:${replyId}`).toString('base64');
  return {
    whole: { type: 'thinking', thinking, signature },
    opening: { type: 'thinking', thinking: '', signature: '' },
    *deltas() {
      for (const delta of textDeltas(thinking)) yield { type: 'thinking_delta', thinking: delta };
      yield { type: 'signature_delta', signature };
    },
  };
}

function textBlock(text: string): Block {
  return {
    whole: { type: 'text', text },
    opening: { type: 'text', text: '' },
    *deltas() {
      for (const delta of textDeltas(text)) yield { type: 'text_delta', text: delta };
    },
  };
}

/** This wire has no freeform tools, so a `custom` call cannot stem from one of its requests; its text goes as `input`. */
function toolUseBlock(call: NeutralToolCall): Block {
  const input = call.kind === 'custom' ? { input: call.input } : call.input;
  const opening = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  return {
    whole: { ...opening, input },
    opening,
    *deltas() {
      for (const delta of textDeltas(JSON.stringify(input)))
        yield { type: 'input_json_delta', partial_json: delta };
    },
  };
}

function openMessage(reply: NeutralReply): JsonObject {
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // The provider counts its first token here, and all tokens at the end.
    usage: { ...inputUsage(reply.usage), output_tokens: Math.min(1, reply.usage.outputTokens) },
  };
}

const stopReason = (reply: NeutralReply): string => (reply.finish === 'tool-calls' ? 'tool_use' : 'end_turn');

const inputUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
});

const outputUsage = ({ outputTokens, reasoningTokens }: Usage): JsonObject => ({
  output_tokens: outputTokens,
  ...(reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
});
