import { isJsonObject, type JsonObject, parseJson } from '@whetstone/events';
import { createParser } from 'eventsource-parser';
import { errorInAnswer, failureKind, saysOverload } from './error-in-answer.ts';
import { EventTooLarge, MAX_EVENT_LENGTH } from './event-splitter.ts';
import { stringAt } from './json-reading.ts';
import type { Metered, WireMeter } from './metered.ts';

/** An error in an answer. `kind`: what it has to do with the provider and not with the call. */
type AnswerFailure = { message: string; kind: ReturnType<typeof failureKind> };

export type ResponseMeter = ReturnType<typeof meterResponse>;

/** A body that is not streamed is kept until its end, up to this many bytes. A longer one is not metered. */
const maxBodyBytes = 64 * 1024 * 1024;

/** Meters the bytes of a response as they pass. `push` throws an `EventTooLarge`. */
export function meterResponse(meter: WireMeter, contentType: string) {
  let firstOutputAt: number | undefined;
  let overloaded = false;
  let failure: AnswerFailure | undefined;

  function read(json: string): void {
    if (json === '[DONE]') meter.done?.();
    // Other data that is not JSON (a body that was cut off) is ignored.
    const value = parseJson(json);
    for (const data of Array.isArray(value) ? value : [value]) {
      if (!isJsonObject(data)) continue;
      const error = errorInAnswer(data);
      overloaded ||= error !== undefined && saysOverload(error);
      failure ??= error && failureOf(error);
      if (meter.read(data)) firstOutputAt ??= performance.now();
    }
  }

  const isStream = contentType.includes('text/event-stream');
  const bytes = isStream ? eventReader(read) : bodyReader(read);
  return {
    push: bytes.push,
    /** `performance.now()` when the first output of the model passed. */
    firstOutputAt: (): number | undefined => firstOutputAt,
    /** Whether the answer so far says that the provider gets too many requests. */
    overloaded: (): boolean => overloaded,
    result(): Metered {
      bytes.end();
      if (!isStream) meter.done?.();
      const metered = meter.result();
      return failure === undefined ? metered : { ...metered, finish: 'error' };
    },
    /** Whether the stream has ended without the event that ends it on its wire. For an answer that has ended. */
    cutOff: (): boolean => isStream && !meter.hasEnd(),
    /** What the provider says went wrong, after it had begun to answer. Complete when the answer has ended. */
    failure: (): AnswerFailure | undefined => failure,
  };
}

type ByteReader = { push(chunk: string | Uint8Array): void; end(): void };

function eventReader(read: (json: string) => void): ByteReader {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onEvent: (event) => read(event.data),
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw new EventTooLarge();
    },
  });
  return {
    push(chunk) {
      parser.feed(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    },
    end() {},
  };
}

function bodyReader(read: (json: string) => void): ByteReader {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    push(chunk) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      if (size <= maxBodyBytes) chunks.push(bytes);
      else chunks.length = 0;
    },
    end() {
      if (chunks.length > 0) read(Buffer.concat(chunks).toString());
      chunks.length = 0;
    },
  };
}

const failureOf = (error: JsonObject): AnswerFailure => ({
  message: stringAt(error, 'message') || stringAt(error, 'type') || 'no reason given',
  kind: failureKind(error),
});
