import { isJsonObject, type JsonObject, parseJson } from '@whetstone/events';
import { createParser } from 'eventsource-parser';
import { objectAt, objectsAt, stringAt } from '../wire/json-reading.ts';
import type { WireProtocol } from '../wire/neutral.ts';

/**
 * A reply, streamed or whole, as the body of a request that has it as its history: what the parser of its wire reads. What is
 * not a reply, such as an error, has no messages.
 */
export function replyAsHistory(wire: WireProtocol, reply: string): JsonObject {
  const values = valuesOf(reply);
  switch (wire) {
    case 'openai-responses':
      return { input: responseItems(values) };
    case 'openai-chat-completions':
      return { messages: chatMessages(values) };
    case 'anthropic-messages':
      return { messages: anthropicMessages(values) };
    case 'gemini-generate-content':
      return { contents: geminiContents(values) };
  }
}

/** The objects of the events, of a list, or the one object. */
function valuesOf(reply: string): JsonObject[] {
  const whole = parseJson(reply);
  if (whole !== undefined) return (Array.isArray(whole) ? whole : [whole]).filter(isJsonObject);
  const values: JsonObject[] = [];
  const parser = createParser({
    onEvent({ data }) {
      const value = parseJson(data);
      if (isJsonObject(value)) values.push(value);
    },
  });
  parser.feed(`${reply}\n\n`);
  return values;
}

const ITEM_DONE = 'response.output_item.done';
const TEXT_DELTA = 'response.output_text.delta';

/** A stream that was cut off has no whole response, and the items that were complete. */
function responseItems(values: readonly JsonObject[]): JsonObject[] {
  const whole = values
    .map((value) => objectsAt('output' in value ? value : objectAt(value, 'response'), 'output'))
    .findLast((output) => output.length > 0);
  if (whole) return whole;
  const ofType = (type: string) => values.filter((value) => stringAt(value, 'type') === type);
  const done = ofType(ITEM_DONE).map((value) => objectAt(value, 'item'));
  const ids = new Set(done.map((item) => stringAt(item, 'id')));
  const begun = ofType(TEXT_DELTA).filter((value) => !ids.has(stringAt(value, 'item_id')));
  const text = begun.map((value) => stringAt(value, 'delta')).join('');
  const content = [{ type: 'output_text', text }];
  return text === '' ? done : [...done, { type: 'message', role: 'assistant', content }];
}

function chatMessages(values: readonly JsonObject[]): JsonObject[] {
  const message = { role: 'assistant', content: '', reasoning_content: '' };
  const calls = new Map<string, { id: string; type: string; name: string; input: string }>();
  for (const value of values) {
    const [choice = {}] = objectsAt(value, 'choices');
    const part = { ...objectAt(choice, 'message'), ...objectAt(choice, 'delta') };
    message.content += stringAt(part, 'content');
    message.reasoning_content += stringAt(part, 'reasoning_content') || stringAt(part, 'reasoning');
    for (const [index, call] of objectsAt(part, 'tool_calls').entries()) {
      const key = String(call.index ?? index);
      const known = calls.get(key) ?? { id: '', type: 'function', name: '', input: '' };
      calls.set(key, known);
      known.id ||= stringAt(call, 'id');
      known.type = stringAt(call, 'type') || known.type;
      for (const held of [objectAt(call, 'function'), objectAt(call, 'custom')]) {
        known.name += stringAt(held, 'name');
        known.input += stringAt(held, 'arguments') + stringAt(held, 'input');
      }
    }
  }
  const tool_calls = [...calls.values()].map(({ id, type, name, input }) =>
    type === 'custom'
      ? { id, type, custom: { name, input } }
      : { id, type, function: { name, arguments: input } },
  );
  const isEmpty = message.content === '' && message.reasoning_content === '' && tool_calls.length === 0;
  return isEmpty ? [] : [{ ...message, tool_calls }];
}

function anthropicMessages(values: readonly JsonObject[]): JsonObject[] {
  const [first] = values;
  if (first && stringAt(first, 'type') === 'message') return [first];
  const blocks = new Map<string, JsonObject>();
  for (const value of values) {
    const key = String(value.index);
    if (stringAt(value, 'type') === 'content_block_start')
      blocks.set(key, { ...objectAt(value, 'content_block') });
    const block = blocks.get(key);
    if (!block || stringAt(value, 'type') !== 'content_block_delta') continue;
    const delta = objectAt(value, 'delta');
    for (const field of ['text', 'thinking', 'partial_json']) {
      if (field in delta) block[field] = stringAt(block, field) + stringAt(delta, field);
    }
  }
  const content = [...blocks.values()].map(({ partial_json: json, ...block }) =>
    typeof json === 'string' ? { ...block, input: parseJson(json) ?? { unfinished: json } } : block,
  );
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

function geminiContents(values: readonly JsonObject[]): JsonObject[] {
  const parts = values.flatMap((value) => {
    const [candidate = {}] = objectsAt(value, 'candidates');
    return objectsAt(objectAt(candidate, 'content'), 'parts');
  });
  return parts.length === 0 ? [] : [{ role: 'model', parts }];
}
