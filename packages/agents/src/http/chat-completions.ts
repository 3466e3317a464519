import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import type { Turn } from '../agent.ts';
import { errorMessage, type HttpAnswer } from './answer-frames.ts';
import { countAt, objectAt, objectsAt, parsedArguments, textAt } from './json-reading.ts';
import { type AnswerStream, draftTurn, type TurnDraft } from './turn-draft.ts';

const FINISHED = ['stop', 'tool_calls', 'function_call'];
/** Keys of a message that become events, or that carry no information. */
const MAPPED_KEYS = new Set([
  ...['role', 'content', 'refusal', 'reasoning_content', 'reasoning', 'tool_calls', 'function_call'],
]);

/**
 * Makes a turn from an answer in the OpenAI Chat Completions format, whole or streamed: text, reasoning (as
 * `reasoning_content` or `reasoning`), calls and usage. Only the first of several choices counts. Tool calls have no
 * result here, because the caller of the API runs them. An answer that was cut off (`length`, `content_filter`, a stream
 * that breaks off) and an error are a failed turn. Never rejects; what has no mapping becomes a `raw` event.
 *
 * Written by hand because the AI SDK's providers for this format lose a legacy `function_call`, other choices and keys
 * that they do not know, reject an answer as a whole when one field is not OpenAI's, and fail a turn for one bad frame.
 */
export async function fromChatCompletions(answer: HttpAnswer): Promise<Turn> {
  return (await draftTurn(answer, addCompletion, () => new CompletionStream())).finish();
}

function addCompletion(draft: TurnDraft, completion: JsonValue): void {
  const object = isJsonObject(completion) ? completion : {};
  const [choice, ...others] = objectsAt(object, 'choices');
  if (choice) addChoice(draft, choice);
  for (const other of others) draft.addRaw(other);
  draft.addUsage(object, { input: 'prompt_tokens', output: 'completion_tokens' });
  const error = object.error == null ? undefined : (errorMessage(object) ?? 'The answer is an error.');
  if (error !== undefined) draft.fail(error);
  else if (!choice) {
    draft.addRaw(completion);
    draft.fail('The answer is not a chat completion.');
  }
}

function addChoice(draft: TurnDraft, choice: JsonObject): void {
  const message = objectAt(choice, 'message');
  const thinking = textAt(message, 'reasoning_content') ?? textAt(message, 'reasoning');
  if (thinking !== undefined) draft.add({ type: 'thinking', text: thinking });
  for (const text of [contentText(message), textAt(message, 'refusal')]) {
    if (text !== undefined) draft.add({ type: 'message', role: 'assistant', text });
  }
  const calls = objectsAt(message, 'tool_calls');
  if (isJsonObject(message.function_call)) calls.push({ function: message.function_call });
  for (const [index, call] of calls.entries()) addCall(draft, call, index);
  const rest = Object.entries(message).filter(([key, value]) => !MAPPED_KEYS.has(key) && !isEmpty(value));
  if (rest.length > 0) draft.addRaw(Object.fromEntries(rest));
  const reason = textAt(choice, 'finish_reason');
  if (reason !== undefined && !FINISHED.includes(reason)) draft.fail(`The answer was cut off: ${reason}.`);
}

function contentText(message: JsonObject): string | undefined {
  const parts = objectsAt(message, 'content').map((part) => textAt(part, 'text') ?? '');
  return textAt(message, 'content') ?? (parts.join('') || undefined);
}

function addCall(draft: TurnDraft, call: JsonObject, index: number): void {
  const callId = textAt(call, 'id') ?? `call-${index}`;
  // A custom tool takes free text instead of arguments.
  const custom = objectAt(call, 'custom');
  const called = objectAt(call, 'function');
  const name = textAt(called, 'name') ?? textAt(custom, 'name');
  const input = parsedArguments(called.arguments ?? custom.input);
  if (name === undefined) draft.addRaw(call);
  else draft.add({ type: 'action.called', callId, name, input });
}

function isEmpty(value: JsonValue): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

type StreamedChoice = { message: JsonObject; calls: Map<number, StreamedCall>; finish: JsonValue };
type StreamedCall = { call: JsonObject; called: JsonObject };

class CompletionStream implements AnswerStream {
  isOver = false;
  readonly #choices = new Map<number, StreamedChoice>();
  readonly #rest: JsonObject = {};

  take(chunk: JsonObject): boolean {
    const { choices, usage, model, error } = chunk;
    if (error != null) this.#rest.error = error;
    if (isJsonObject(usage)) this.#rest.usage = usage;
    if (typeof model === 'string') this.#rest.model = model;
    for (const part of objectsAt(chunk, 'choices')) {
      const choice = at(this.#choices, countAt(part, 'index') ?? 0, newChoice);
      takeDelta(choice, objectAt(part, 'delta'));
      choice.finish = part.finish_reason ?? choice.finish;
      if (choice.finish !== null) this.isOver = true;
    }
    return Array.isArray(choices) || isJsonObject(usage) || error != null;
  }

  end(): void {
    this.isOver = true;
  }

  answer(): JsonObject {
    return { ...this.#rest, choices: inOrder(this.#choices).map(wholeChoice) };
  }
}

const newCall = (): StreamedCall => ({ call: {}, called: {} });
const newChoice = (): StreamedChoice => ({ message: {}, calls: new Map(), finish: null });

function takeDelta({ message, calls }: StreamedChoice, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key !== 'tool_calls' && key !== 'function_call') append(message, key, value);
  }
  const parts = objectsAt(delta, 'tool_calls');
  if (isJsonObject(delta.function_call)) parts.push({ function: delta.function_call });
  for (const part of parts) {
    const { call, called } = at(calls, countAt(part, 'index') ?? 0, newCall);
    if (typeof part.id === 'string') call.id ??= part.id;
    const { name, ...rest } = objectAt(part, 'function');
    if (typeof name === 'string') called.name ??= name;
    for (const [key, value] of Object.entries(rest)) append(called, key, value);
  }
}

function wholeChoice({ message, calls, finish }: StreamedChoice): JsonObject {
  const whole = inOrder(calls).map(({ call, called }) => ({ ...call, function: called }));
  return { message: { ...message, tool_calls: whole }, finish_reason: finish };
}

/** Merges a delta: texts and lists are appended, everything else is replaced. */
function append(target: JsonObject, key: string, value: JsonValue): void {
  if (value === null || key === '__proto__') return;
  const before = target[key];
  if (key !== 'role' && typeof before === 'string' && typeof value === 'string') target[key] = before + value;
  else if (Array.isArray(before) && Array.isArray(value)) before.push(...value);
  else target[key] = Array.isArray(value) ? [...value] : value;
}

const inOrder = <Value>(map: Map<number, Value>): Value[] =>
  [...map].sort(([a], [b]) => a - b).map(([, value]) => value);

function at<Value>(map: Map<number, Value>, index: number, create: () => Value): Value {
  const value = map.get(index) ?? create();
  map.set(index, value);
  return value;
}
