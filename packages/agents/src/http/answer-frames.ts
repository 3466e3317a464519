import { messageOf } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { createParser } from 'eventsource-parser';
import { objectAt, parseJson, textAt } from './json-reading.ts';

/** A `Response` of `fetch`, or its body: a stream of bytes or text, text, parsed JSON, a stream of parsed events. */
export type HttpAnswer = Response | AsyncIterable<Uint8Array | string | object> | string | object;

/** One part of an answer. */
export type Frame =
  | { kind: 'whole'; value: JsonValue }
  | { kind: 'event'; value: JsonObject }
  /** An event that is not a JSON object. */
  | { kind: 'unknown'; value: JsonValue }
  /** The end mark of the stream (`[DONE]`). */
  | { kind: 'done' }
  /** The answer is an error, cannot be read, or broke off. This is always the last frame. */
  | { kind: 'failed'; message: string };

/** Longer than any real answer. Without a limit an endless answer would fill the memory. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
const LARGEST_ERROR = 4 * 1024;

/** Splits an answer into frames. How it begins shows whether it is JSON or server-sent events. Never throws. */
export async function* answerFrames(answer: HttpAnswer): AsyncGenerator<Frame> {
  try {
    if (isResponse(answer) && !answer.ok) yield await refused(answer);
    else if (isResponse(answer)) yield* bodyFrames(answer.body ?? '');
    else if (typeof answer === 'string' || isAsyncIterable(answer)) yield* bodyFrames(answer);
    else yield { kind: 'whole', value: (parseJson(JSON.stringify(answer)) ?? null) as JsonValue };
  } catch (error) {
    yield { kind: 'failed', message: `The answer could not be read: ${messageOf(error)}` };
  }
}

async function refused(answer: Response): Promise<Frame> {
  let text = '';
  for await (const chunk of bounded(answer.body ?? '')) {
    if (typeof chunk === 'string') text += chunk;
    if (text.length > LARGEST_ERROR) break;
  }
  const value = parseJson(text);
  const message = (isJsonObject(value) && errorMessage(value)) || text.slice(0, LARGEST_ERROR).trim();
  const status = `HTTP ${answer.status} ${answer.statusText}`.trim();
  return { kind: 'failed', message: message === '' ? status : `${status}: ${message}` };
}

/** The message of an answer that is an error: `{ error: { message } }`, `{ error: "…" }`, `{ message }`. */
export function errorMessage(value: JsonObject): string | undefined {
  return (
    textAt(objectAt(value, 'error'), 'message') ??
    textAt(value, 'error') ??
    textAt(value, 'message') ??
    textAt(value, 'detail')
  );
}

async function* bodyFrames(body: AsyncIterable<unknown> | string): AsyncGenerator<Frame> {
  const chunks = bounded(body);
  let head = '';
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    if (typeof next.value === 'object') return yield* objectFrames(next.value, chunks);
    head += next.value;
    if (head.trim() !== '') break;
  }
  const start = head.trimStart();
  if (start === '') yield { kind: 'failed', message: 'The answer is empty.' };
  else if (/^[[{]/.test(start)) yield await wholeFrame(textsOf(start, chunks));
  else yield* eventFrames(textsOf(start, chunks));
}

async function wholeFrame(texts: AsyncIterable<string>): Promise<Frame> {
  let whole = '';
  for await (const text of texts) whole += text;
  const value = parseJson(whole);
  if (value === undefined) return { kind: 'failed', message: 'The answer is not valid JSON.' };
  return { kind: 'whole', value };
}

async function* eventFrames(texts: AsyncIterable<string>): AsyncGenerator<Frame> {
  let isEmpty = true;
  for await (const data of eventData(texts)) {
    isEmpty = false;
    yield data.trim() === '[DONE]' ? { kind: 'done' } : frameOf(parseJson(data) ?? data);
  }
  // Usually a web page: from a proxy, or from a server that does not know the address.
  if (isEmpty) yield { kind: 'failed', message: 'The answer is neither JSON nor a stream of events.' };
}

/** The data of each server-sent event. Of an event that the end of the stream cuts off, the part that arrived. */
async function* eventData(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const data: string[] = [];
  const parser = createParser({ onEvent: (event) => data.push(event.data) });
  for await (const chunk of chunks) {
    parser.feed(chunk);
    yield* data.splice(0);
  }
  parser.feed('\n\n');
  yield* data;
}

async function* objectFrames(first: object, rest: AsyncIterable<Chunk>): AsyncGenerator<Frame> {
  const jsonOf = (chunk: Chunk) => (typeof chunk === 'string' ? chunk : parseJson(JSON.stringify(chunk)));
  yield frameOf(jsonOf(first) ?? null);
  for await (const chunk of rest) yield frameOf(jsonOf(chunk) ?? null);
  yield { kind: 'done' };
}

const frameOf = (value: JsonValue): Frame =>
  isJsonObject(value) ? { kind: 'event', value } : { kind: 'unknown', value };

type Chunk = string | object;

/** Decodes bytes to text without cutting code points; passes everything else through. Throws when there is too much. */
async function* bounded(body: AsyncIterable<unknown> | string): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let size = 0;
  for await (const chunk of typeof body === 'string' ? [body] : body) {
    const text = chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : chunk;
    size += typeof text === 'string' ? text.length : 1;
    if (size > LARGEST_ANSWER) throw new Error('it is longer than 64 Mi characters');
    if (typeof text === 'string' || (typeof text === 'object' && text !== null)) yield text;
  }
  const last = decoder.decode();
  if (last !== '') yield last;
}

async function* textsOf(start: string, chunks: AsyncIterable<Chunk>): AsyncGenerator<string> {
  yield start;
  for await (const chunk of chunks) if (typeof chunk === 'string') yield chunk;
}

/** Recognized by its methods, because a client library may have a class of its own. */
function isResponse(value: HttpAnswer): value is Response {
  return typeof value === 'object' && 'ok' in value && 'arrayBuffer' in value;
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
