import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import { type Answer, type AnswerBody, isEventStream } from '../answer.ts';
import { eventsOf, readWhole } from '../event-stream.ts';
import { eventData, withEventData } from '../wire/event-splitter.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import { forever } from './before-answer.ts';
import type { Fault } from './fault.ts';

/** Applies faults to the body of a good answer. An error passes unchanged. */
export function spoilAnswer(
  answer: Answer,
  faults: readonly Fault[],
  wire: WireProtocol,
  signal: AbortSignal,
): Answer {
  if (answer.status >= 400) return answer;
  const read = isEventStream(answer) ? spoilEvents : spoilWhole;
  let { body } = answer;
  for (const fault of faults) body = read(body, fault, wire, signal);
  if (body === answer.body) return answer;
  // The length has changed.
  const { 'content-length': _, ...headers } = answer.headers;
  return { ...answer, headers, body };
}

const defaultAfterEvents = 2;
const garbage = Buffer.from('\u0000\ufffd{"}<html>502 Bad Gateway\n\n');

/** Faults that do not change a body leave it as it is. */
function spoilEvents(body: AnswerBody, fault: Fault, wire: WireProtocol, signal: AbortSignal): AnswerBody {
  switch (fault.kind) {
    case 'truncated':
      return firstEvents(body, fault.afterEvents);
    case 'garbage':
      return followedBy(firstEvents(body, fault.afterEvents), [garbage]);
    case 'hang-mid-stream':
      return followedBy(firstEvents(body, fault.afterEvents), silence(signal));
    case 'slow-tokens':
      return slowly(body, fault.ms, signal);
    case 'malformed-tool-json':
      return mapped(body, (event) => breakToolInputsOfEvent(event, wire));
    default:
      return body;
  }
}

function spoilWhole(body: AnswerBody, fault: Fault, wire: WireProtocol, signal: AbortSignal): AnswerBody {
  switch (fault.kind) {
    case 'truncated':
      return changed(body, firstHalf);
    case 'garbage':
      // The answer is read anyway, so that its usage is known.
      return changed(body, () => garbage);
    case 'hang-mid-stream':
      return followedBy(changed(body, firstHalf), silence(signal));
    case 'malformed-tool-json':
      return changed(body, (whole) => breakToolInputs(whole.toString(), wire));
    default:
      return body;
  }
}

async function* firstEvents(body: AnswerBody, count = defaultAfterEvents): AsyncGenerator<string> {
  if (count <= 0) return;
  let passed = 0;
  for await (const event of eventsOf(body)) {
    yield event;
    passed += 1;
    if (passed >= count) return;
  }
}

async function* followedBy(first: AnswerBody, second: AnswerBody): AsyncGenerator<string | Uint8Array> {
  yield* first;
  yield* second;
}

async function* silence(signal: AbortSignal): AsyncGenerator<string> {
  yield await forever(signal);
}

async function* slowly(body: AnswerBody, ms: number, signal: AbortSignal): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) {
    await delay(ms, undefined, { signal });
    yield event;
  }
}

async function* mapped(body: AnswerBody, change: (event: string) => string): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) yield change(event);
}

const firstHalf = (whole: Buffer): Buffer => whole.subarray(0, Math.floor(whole.length / 2));

async function* changed(
  body: AnswerBody,
  change: (whole: Buffer) => string | Uint8Array,
): AsyncGenerator<string | Uint8Array> {
  yield change(await readWhole(body));
}

/** An event with the tool inputs in its data broken. An event without tool inputs stays the same. */
function breakToolInputsOfEvent(event: string, wire: WireProtocol): string {
  const data = eventData(event);
  const broken = breakToolInputs(data, wire);
  return broken === data ? event : withEventData(event, broken);
}

/** A response, or a part of one, with its tool inputs broken. A text that is not JSON stays the same. */
function breakToolInputs(json: string, wire: WireProtocol): string {
  const value = parseJson(json);
  if (value === undefined) return json;
  const broken = JSON.stringify(walk(value, wire));
  return broken === JSON.stringify(value) ? json : broken;
}

function walk(value: JsonValue, wire: WireProtocol): JsonValue {
  if (Array.isArray(value)) return value.map((item) => walk(item, wire));
  if (!isJsonObject(value)) return value;
  const walked: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    const isInput = inputFields[wire](value).includes(name);
    walked[name] = isInput && typeof field === 'string' ? breakInput(field) : walk(field, wire);
  }
  if (wire === 'anthropic-messages') return malformedToolUse(walked);
  return wire === 'gemini-generate-content' ? malformedCandidate(walked) : walked;
}

/** The fields of `object` that hold a tool's input or a piece of it. */
const inputFields: Record<WireProtocol, (object: JsonObject) => readonly string[]> = {
  'openai-responses': ({ type }) =>
    type === 'response.function_call_arguments.delta' ? ['delta'] : ['arguments'],
  'openai-chat-completions': () => ['arguments'],
  'anthropic-messages': ({ type }) => (type === 'input_json_delta' ? ['partial_json'] : []),
  'gemini-generate-content': () => [],
};

/** A second opening brace is never valid, whatever pieces of a streamed input follow. */
const breakInput = (input: string): string => (input.startsWith('{') ? `{${input}` : input);

/** A tool call that is not streamed has an object here. A streamed call starts with an empty object, which stays. */
function malformedToolUse(block: JsonObject): JsonObject {
  const isCall =
    block.type === 'tool_use' && isJsonObject(block.input) && Object.keys(block.input).length > 0;
  return isCall ? { ...block, input: breakInput(JSON.stringify(block.input)) } : block;
}

/** On this wire inputs are objects, so the provider holds back a malformed call and reports it. */
function malformedCandidate(object: JsonObject): JsonObject {
  const { content } = object;
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return object;
  const parts = content.parts.filter((part) => !isJsonObject(part) || part.functionCall === undefined);
  if (parts.length === content.parts.length) return object;
  return { ...object, content: { ...content, parts }, finishReason: 'MALFORMED_FUNCTION_CALL' };
}
