import { type JsonObject, type JsonValue, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { inputText, type NeutralReply, type NeutralToolCall } from '../neutral.ts';
import { serverSentEvent, textDeltas } from '../server-sent-events.ts';

/** The body of a reply that is not streamed: a `response` object of the OpenAI Responses API. */
export function encodeResponse(reply: NeutralReply): JsonObject {
  const output = outputItems(reply).map((item) => item.done);
  return responseObject(reply, 'completed', output, usageObject(reply.usage));
}

/** The events of a streamed reply, in the order of the OpenAI Responses API, as server-sent events. */
export function* streamResponse(reply: NeutralReply): Generator<string> {
  let sequenceNumber = 0;
  const event = (type: string, fields: JsonObject): string =>
    serverSentEvent({ type, sequence_number: sequenceNumber++, ...fields });

  const opening = responseObject(reply, 'in_progress', [], null);
  yield event('response.created', { response: opening });
  yield event('response.in_progress', { response: opening });
  for (const [outputIndex, { open, done, parts }] of outputItems(reply).entries()) {
    yield event('response.output_item.added', { output_index: outputIndex, item: open });
    for (const [type, fields] of parts()) {
      yield event(`response.${type}`, { item_id: open.id, output_index: outputIndex, ...fields });
    }
    yield event('response.output_item.done', { output_index: outputIndex, item: done });
  }
  yield event('response.completed', { response: encodeResponse(reply) });
}

type OutputItem = {
  /** The item as `output_item.added` announces it: still empty. */
  open: JsonObject & { id: string };
  done: JsonObject;
  /** The events between `output_item.added` and `output_item.done`: their types and fields. */
  parts: () => Iterable<[type: string, fields: JsonObject]>;
};

/** The items of a reply. Their ids have OpenAI's prefixes, which `parse` recognises. */
function outputItems(reply: NeutralReply): OutputItem[] {
  const items: OutputItem[] = [];
  if (reply.thinking) items.push(reasoningItem(`rs_${reply.id}`, reply.thinking));
  if (reply.text || reply.toolCalls.length === 0) {
    items.push(messageItem(`msg_${reply.id}`, reply.text ?? ''));
  }
  return [...items, ...reply.toolCalls.map((call, index) => callItem(`${reply.id}${index}`, call))];
}

function reasoningItem(id: string, summary: string): OutputItem {
  const at = { summary_index: 0 };
  const part = (text: string): JsonObject => ({ type: 'summary_text', text });
  // Represents the provider's encrypted reasoning. Clients keep it and send it back without reading it.
  const encrypted = Buffer.from(`whetstone:${id}`).toString('base64');
  return {
    open: { id, type: 'reasoning', summary: [] },
    done: { id, type: 'reasoning', summary: [part(summary)], encrypted_content: encrypted },
    *parts() {
      yield ['reasoning_summary_part.added', { ...at, part: part('') }];
      for (const delta of textDeltas(summary)) yield ['reasoning_summary_text.delta', { ...at, delta }];
      yield ['reasoning_summary_text.done', { ...at, text: summary }];
      yield ['reasoning_summary_part.done', { ...at, part: part(summary) }];
    },
  };
}

function messageItem(id: string, text: string): OutputItem {
  const item = (status: string, content: JsonObject[]) => {
    return { id, type: 'message', status, role: 'assistant', content };
  };
  const at = { content_index: 0 };
  const part = (said: string): JsonObject => ({
    type: 'output_text',
    text: said,
    annotations: [],
    logprobs: [],
  });
  return {
    open: item('in_progress', []),
    done: item('completed', [part(text)]),
    *parts() {
      yield ['content_part.added', { ...at, part: part('') }];
      for (const delta of textDeltas(text)) yield ['output_text.delta', { ...at, logprobs: [], delta }];
      yield ['output_text.done', { ...at, text, logprobs: [] }];
      yield ['content_part.done', { ...at, part: part(text) }];
    },
  };
}

function callItem(suffix: string, call: NeutralToolCall): OutputItem {
  const isCustom = call.kind === 'custom';
  const whole = inputText(call);
  const item = (status: string, input: string) => ({
    id: `${isCustom ? 'ctc' : 'fc'}_${suffix}`,
    type: isCustom ? 'custom_tool_call' : 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    ...present({ namespace: call.namespace }),
    ...(isCustom ? { input } : { arguments: input }),
  });
  const type = isCustom ? 'custom_tool_call_input' : 'function_call_arguments';
  return {
    open: item('in_progress', ''),
    done: item('completed', whole),
    *parts() {
      for (const delta of textDeltas(whole)) yield [`${type}.delta`, { delta }];
      yield [`${type}.done`, isCustom ? { input: whole } : { name: call.name, arguments: whole }];
    },
  };
}

function responseObject(
  reply: NeutralReply,
  status: 'in_progress' | 'completed',
  output: JsonObject[],
  usage: JsonValue,
): JsonObject {
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: reply.createdAt,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: reply.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage,
    user: null,
  };
}

/** OpenAI's `input_tokens` includes cached tokens; our buckets are exclusive. */
function usageObject(usage: Usage): JsonObject {
  const { outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const total = totalTokens(usage);
  return {
    input_tokens: total - outputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: total,
  };
}
