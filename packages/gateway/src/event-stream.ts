import type { AnswerBody } from './answer.ts';
import { splitEvents } from './wire/event-splitter.ts';

/** The events of a streamed body, each as soon as it is complete; an unfinished last event comes at the end. */
export async function* eventsOf(body: AnswerBody): AsyncGenerator<string> {
  const splitter = splitEvents();
  for await (const chunk of body) yield* splitter.push(chunk);
  const rest = splitter.rest();
  if (rest !== '') yield rest;
}

export async function readWhole(body: AnswerBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}
