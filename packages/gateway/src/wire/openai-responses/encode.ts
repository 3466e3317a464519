import type { JsonObject, JsonValue, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { NeutralReply, NeutralToolCall } from '../neutral.ts';
import { serverSentEvent, textDeltas } from '../server-sent-events.ts';

/** The body of a reply that is not streamed: a `response` object of the OpenAI Responses API. */
export function encodeResponse(reply: NeutralReply): JsonObject {
  return responseObject(reply, 'completed', outputItems(reply).map(doneItem), usageObject(reply.usage));
}

/** The events of a streamed reply, in the order of the OpenAI Responses API, as server-sent events. */
export function* streamResponse(reply: NeutralReply): Generator<string> {
  let sequenceNumber = 0;
  const event = (type: string, fields: JsonObject): string =>
    serverSentEvent({ type, sequence_number: sequenceNumber++, ...fields });

  const opening = responseObject(reply, 'in_progress', [], null);
  yield event('response.created', { response: opening });
  yield event('response.in_progress', { response: opening });
  for (const [outputIndex, item] of outputItems(reply).entries()) {
    yield event('response.output_item.added', { output_index: outputIndex, item: openItem(item) });
    for (const part of itemEvents(item)) {
      yield event(part.type, { item_id: item.id, output_index: outputIndex, ...part.fields });
    }
    yield event('response.output_item.done', { output_index: outputIndex, item: doneItem(item) });
  }
  yield event('response.completed', { response: encodeResponse(reply) });
}

type OutputItem =
  | { type: 'reasoning'; id: string; summary: string }
  | { type: 'message'; id: string; text: string }
  | { type: 'call'; id: string; call: NeutralToolCall };

/** The items of a reply. Their ids have OpenAI's prefixes, which `parse` recognises. */
function outputItems(reply: NeutralReply): OutputItem[] {
  const items: OutputItem[] = [];
  if (reply.thinking) items.push({ type: 'reasoning', id: `rs_${reply.id}`, summary: reply.thinking });
  if (reply.text || reply.toolCalls.length === 0) {
    items.push({ type: 'message', id: `msg_${reply.id}`, text: reply.text ?? '' });
  }
  for (const [index, call] of reply.toolCalls.entries()) {
    const prefix = call.kind === 'custom' ? 'ctc' : 'fc';
    items.push({ type: 'call', id: `${prefix}_${reply.id}${index}`, call });
  }
  return items;
}

/** An item as `output_item.added` announces it: still empty. */
function openItem(item: OutputItem): JsonObject {
  switch (item.type) {
    case 'reasoning':
      return { id: item.id, type: 'reasoning', summary: [] };
    case 'message':
      return { id: item.id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    case 'call':
      return callItem(item.id, item.call, 'in_progress', '');
  }
}

function doneItem(item: OutputItem): JsonObject {
  switch (item.type) {
    case 'reasoning':
      return {
        id: item.id,
        type: 'reasoning',
        summary: [summaryPart(item.summary)],
        encrypted_content: opaque(item.id),
      };
    case 'message':
      return {
        id: item.id,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [textPart(item.text)],
      };
    case 'call':
      return callItem(item.id, item.call, 'completed', callInput(item.call));
  }
}

type ItemEvent = { type: string; fields: JsonObject };

/** What comes between `output_item.added` and `output_item.done`. */
function* itemEvents(item: OutputItem): Generator<ItemEvent> {
  switch (item.type) {
    case 'reasoning': {
      const at = { summary_index: 0 };
      yield { type: 'response.reasoning_summary_part.added', fields: { ...at, part: summaryPart('') } };
      yield* deltas('response.reasoning_summary_text', item.summary, at);
      yield {
        type: 'response.reasoning_summary_text.done',
        fields: { ...at, text: item.summary },
      };
      yield {
        type: 'response.reasoning_summary_part.done',
        fields: { ...at, part: summaryPart(item.summary) },
      };
      return;
    }
    case 'message': {
      const at = { content_index: 0 };
      yield { type: 'response.content_part.added', fields: { ...at, part: textPart('') } };
      yield* deltas('response.output_text', item.text, { ...at, logprobs: [] });
      yield { type: 'response.output_text.done', fields: { ...at, text: item.text, logprobs: [] } };
      yield { type: 'response.content_part.done', fields: { ...at, part: textPart(item.text) } };
      return;
    }
    case 'call': {
      const input = callInput(item.call);
      if (item.call.kind === 'custom') {
        yield* deltas('response.custom_tool_call_input', input, {});
        yield { type: 'response.custom_tool_call_input.done', fields: { input } };
      } else {
        yield* deltas('response.function_call_arguments', input, {});
        yield {
          type: 'response.function_call_arguments.done',
          fields: { name: item.call.name, arguments: input },
        };
      }
    }
  }
}

function* deltas(prefix: string, text: string, fields: JsonObject): Generator<ItemEvent> {
  for (const delta of textDeltas(text)) yield { type: `${prefix}.delta`, fields: { ...fields, delta } };
}

const callInput = (call: NeutralToolCall): string =>
  call.kind === 'custom' ? call.input : JSON.stringify(call.input);

function callItem(id: string, call: NeutralToolCall, status: string, input: string): JsonObject {
  return {
    id,
    type: call.kind === 'custom' ? 'custom_tool_call' : 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    ...present({ namespace: call.namespace }),
    ...(call.kind === 'custom' ? { input } : { arguments: input }),
  };
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const summaryPart = (text: string): JsonObject => ({ type: 'summary_text', text });

/** Represents the provider's encrypted reasoning. Clients keep it and send it back without reading it. */
const opaque = (id: string): string => Buffer.from(`whetstone:${id}`).toString('base64');

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
  const cacheRead = usage.cacheReadTokens ?? 0;
  const cacheWrite = usage.cacheWriteTokens ?? 0;
  const inputTokens = usage.inputTokens + cacheRead + cacheWrite;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: inputTokens + usage.outputTokens,
  };
}
