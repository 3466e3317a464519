import { messageOf } from '@whetstone/errors';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { createParser } from 'eventsource-parser';
import { isJsonObject } from '../kit/fields.ts';
import { objectAt, parseJson, textAt } from './json-reading.ts';

/**
 * What a backend answered: the `Response` of a `fetch`, or its body as a stream of bytes or text, as text, as parsed
 * JSON, or as a stream of parsed events.
 */
export type HttpAnswer = Response | AsyncIterable<Uint8Array | string | object> | string | object;

/** One part of an answer. */
export type Frame =
  /** The whole answer, as JSON. */
  | { kind: 'whole'; value: JsonValue }
  /** One event of a stream. */
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
  for (;;) {
    const next = await chunks.next();
    if (next.done) break;
    if (typeof next.value === 'object') {
      yield* objectFrames(next.value, chunks);
      return;
    }
    head += next.value;
    if (head.trim() !== '') break;
  }
  const start = head.trimStart();
  if (start === '') yield { kind: 'failed', message: 'The answer is empty.' };
  else if (/^[[{]/.test(start)) yield* wholeFrames(start, chunks);
  else yield* eventFrames(start, chunks);
}

async function* wholeFrames(start: string, chunks: AsyncIterable<Chunk>): AsyncGenerator<Frame> {
  const parts = [start];
  for await (const chunk of textOf(chunks)) parts.push(chunk);
  const value = parseJson(parts.join(''));
  if (value === undefined) yield { kind: 'failed', message: 'The answer is not valid JSON.' };
  else yield { kind: 'whole', value };
}

async function* eventFrames(start: string, chunks: AsyncIterable<Chunk>): AsyncGenerator<Frame> {
  async function* all() {
    yield start;
    yield* textOf(chunks);
  }
  let any = false;
  for await (const data of eventData(all())) {
    any = true;
    if (data.trim() === '[DONE]') {
      yield { kind: 'done' };
      continue;
    }
    const value = parseJson(data);
    yield isJsonObject(value) ? { kind: 'event', value } : { kind: 'unknown', value: value ?? data };
  }
  // Usually a web page: from a proxy, or from a server that does not know the address.
  if (!any) yield { kind: 'failed', message: 'The answer is neither JSON nor a stream of events.' };
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

/** Events that the caller has parsed already. */
async function* objectFrames(first: object, rest: AsyncIterable<Chunk>): AsyncGenerator<Frame> {
  yield objectFrame(first);
  for await (const chunk of rest) yield objectFrame(chunk);
  yield { kind: 'done' };
}

function objectFrame(chunk: Chunk): Frame {
  const value = typeof chunk === 'string' ? chunk : parseJson(JSON.stringify(chunk));
  return isJsonObject(value) ? { kind: 'event', value } : { kind: 'unknown', value: value ?? null };
}

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

async function* textOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<string> {
  for await (const chunk of chunks) if (typeof chunk === 'string') yield chunk;
}

/** Recognized by its methods, because a client library may have a class of its own. */
function isResponse(value: HttpAnswer): value is Response {
  return typeof value === 'object' && 'ok' in value && 'arrayBuffer' in value;
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
