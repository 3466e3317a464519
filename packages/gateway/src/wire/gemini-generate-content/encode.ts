import { type JsonObject, totalTokens, type Usage } from '@whetstone/events';
import type { NeutralReply, NeutralToolCall } from '../neutral.ts';
import { textDeltas } from '../server-sent-events.ts';

/** The body of a reply that is not streamed: a `GenerateContentResponse` of the Gemini API. */
export function encodeGenerateContent(reply: NeutralReply): JsonObject {
  return response(reply, parts(reply), true);
}

/** The chunks of a streamed reply as server-sent events. Each is a response with only the new parts. */
export function* streamGenerateContent(reply: NeutralReply): Generator<string> {
  const event = (data: JsonObject): string => `data: ${JSON.stringify(data)}\r\n\r\n`;
  for (const delta of textDeltas(reply.thinking ?? '')) yield event(response(reply, [thought(delta)], false));
  for (const delta of textDeltas(reply.text ?? '')) yield event(response(reply, [{ text: delta }], false));
  const last = reply.toolCalls.length > 0 ? reply.toolCalls.map(functionCall) : [{ text: '' }];
  yield event(response(reply, last, true));
}

function parts(reply: NeutralReply): JsonObject[] {
  const said = reply.text || reply.toolCalls.length === 0 ? [{ text: reply.text ?? '' }] : [];
  return [
    ...(reply.thinking ? [thought(reply.thinking)] : []),
    ...said,
    ...reply.toolCalls.map(functionCall),
  ];
}

const thought = (text: string): JsonObject => ({ text, thought: true });

/** This wire has no freeform tools, so no request leads to a `custom` call. Its text would be sent as `input`. */
const functionCall = (call: NeutralToolCall): JsonObject => ({
  functionCall: {
    id: call.id,
    name: call.name,
    args: call.kind === 'custom' ? { input: call.input } : call.input,
  },
});

/** Like the provider, every chunk has the usage so far; only the last one counts. */
const response = (reply: NeutralReply, content: JsonObject[], complete: boolean): JsonObject => ({
  candidates: [
    {
      content: { role: 'model', parts: content },
      // The provider also says STOP after tool calls.
      ...(complete ? { finishReason: 'STOP' } : {}),
      index: 0,
    },
  ],
  usageMetadata: usageMetadata(
    complete ? reply.usage : { ...reply.usage, outputTokens: 0, reasoningTokens: 0 },
  ),
  modelVersion: reply.model,
  responseId: reply.id,
});

/** `promptTokenCount` includes cached tokens, this wire has no cache writes, and thoughts are not candidate tokens. */
function usageMetadata(usage: Usage): JsonObject {
  const { outputTokens, cacheReadTokens: cached = 0, reasoningTokens: thoughts = 0 } = usage;
  const total = totalTokens(usage);
  return {
    promptTokenCount: total - outputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - thoughts),
    totalTokenCount: total,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  };
}
