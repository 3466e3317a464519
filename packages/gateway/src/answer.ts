import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonValue } from '@whetstone/events';
import type { WireProtocol } from './wire/neutral.ts';
import { providerError } from './wire/provider-error.ts';
import type { ResponseMeter } from './wire/response-meter.ts';

export type AnswerBody = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

export type Answer = {
  status: number;
  headers: OutgoingHttpHeaders;
  body: AnswerBody;
  /** Reads the body as it passes. Only for a model's reply that the gateway did not make itself. */
  meter?: ResponseMeter;
};

export function jsonAnswer(status: number, value: JsonValue, headers: OutgoingHttpHeaders = {}): Answer {
  const body = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
    body: [body],
  };
}

export const errorAnswer = (
  wire: WireProtocol,
  status: number,
  message: string,
  headers: OutgoingHttpHeaders = {},
): Answer => jsonAnswer(status, providerError(wire, status, message), headers);

export const eventAnswer = (body: AnswerBody): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  body,
});

export const isEventStream = (answer: Pick<Answer, 'headers'>): boolean =>
  String(answer.headers['content-type'] ?? '').startsWith('text/event-stream');
