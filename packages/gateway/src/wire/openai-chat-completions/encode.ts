import { type JsonObject, type JsonValue, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectAt } from '../json-reading.ts';
import { inputText, type NeutralReply, type NeutralRequest, type NeutralToolCall } from '../neutral.ts';
import { textDeltas } from '../server-sent-events.ts';

/** The body of a reply that is not streamed: a `chat.completion` object of the OpenAI Chat Completions API. */
export function encodeChatCompletion(reply: NeutralReply): JsonObject {
  const message: JsonObject = {
    role: 'assistant',
    content: reply.text ?? null,
    ...present({ reasoning_content: reply.thinking || undefined }),
    ...(reply.toolCalls.length > 0
      ? { tool_calls: reply.toolCalls.map((call) => callObject(call, inputText(call))) }
      : {}),
    refusal: null,
  };
  return {
    ...completionObject(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usageObject(reply.usage),
  };
}

/** The chunks of a streamed reply as server-sent events, with usage only if `stream_options` asks for it. */
export function* streamChatCompletion(reply: NeutralReply, request: NeutralRequest): Generator<string> {
  const wantsUsage = objectAt(request.raw, 'stream_options').include_usage === true;
  const chunk = (choices: JsonObject[], usage: JsonValue = null): string =>
    `data: ${JSON.stringify({
      ...completionObject(reply, 'chat.completion.chunk'),
      choices,
      ...(wantsUsage ? { usage } : {}),
    })}\n\n`;
  const choice = (delta: JsonObject, finish: string | null = null): string =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }]);

  yield choice({ role: 'assistant', content: '', refusal: null });
  for (const delta of textDeltas(reply.thinking ?? '')) yield choice({ reasoning_content: delta });
  for (const delta of textDeltas(reply.text ?? '')) yield choice({ content: delta });
  for (const [index, call] of reply.toolCalls.entries()) {
    yield choice({ tool_calls: [{ index, ...callObject(call, '') }] });
    for (const delta of textDeltas(inputText(call))) {
      yield choice({ tool_calls: [{ index, ...inputField(call, delta) }] });
    }
  }
  yield choice({}, finishReason(reply));
  if (wantsUsage) yield chunk([], usageObject(reply.usage));
  yield 'data: [DONE]\n\n';
}

const completionObject = (reply: NeutralReply, object: string): JsonObject => ({
  id: `chatcmpl-${reply.id}`,
  object,
  created: reply.createdAt,
  model: reply.model,
  service_tier: 'default',
  system_fingerprint: null,
});

const finishReason = (reply: NeutralReply): string => (reply.finish === 'tool-calls' ? 'tool_calls' : 'stop');

const callObject = (call: NeutralToolCall, input: string): JsonObject => ({
  id: call.id,
  type: call.kind,
  [call.kind]: { name: call.name, ...objectAt(inputField(call, input), call.kind) },
});

const inputField = (call: NeutralToolCall, input: string): JsonObject =>
  call.kind === 'custom' ? { custom: { input } } : { function: { arguments: input } };

/** OpenAI's `prompt_tokens` includes cached tokens; our buckets are exclusive. */
function usageObject(usage: Usage): JsonObject {
  const { outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const total = totalTokens(usage);
  return {
    prompt_tokens: total - outputTokens,
    completion_tokens: outputTokens,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
