import type { ServerResponse } from 'node:http';
import { type Answer, isEventStream } from './answer.ts';
import { readWhole } from './event-stream.ts';

export class UnreadAnswer extends Error {
  override readonly name = 'UnreadAnswer';
}

export type Sending = {
  /** Whether the client only wants the head. */
  headOnly: boolean;
  /** How long the client may leave the answer unread, in milliseconds. The silence of a provider does not count. */
  maxUnreadMs: number;
  /** Called with each piece of the body. */
  onSent: (chunk: string | Uint8Array) => void;
  stop: AbortSignal;
};

/**
 * Sends an answer, piece by piece as it comes and as the client reads it. Rejects when the body fails, and with an
 * `UnreadAnswer` when the client does not read. The caller races it with `stop`, and then closes the connection.
 */
export async function sendAnswer(answer: Answer, response: ServerResponse, sending: Sending): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  if (sending.headOnly) {
    await readWhole(answer.body);
    response.end();
    return;
  }
  const flush = flushLater(answer, response);
  try {
    for await (const chunk of answer.body) {
      sending.stop.throwIfAborted();
      clearImmediate(flush);
      sending.onSent(chunk);
      if (!response.write(chunk)) await untilRead(response, 'drain', sending);
    }
  } finally {
    clearImmediate(flush);
  }
  response.end();
  // The client must also read what is still in the connection.
  if (!response.writableFinished) await untilRead(response, 'finish', sending);
}

/** So that the client of a stream sees the stream begin before the model says its first word, if that is not there yet. */
const flushLater = (answer: Answer, response: ServerResponse): NodeJS.Immediate | undefined =>
  isEventStream(answer) ? setImmediate(() => response.flushHeaders()) : undefined;

function untilRead(
  response: ServerResponse,
  event: 'drain' | 'finish',
  { maxUnreadMs, stop }: Sending,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onStop = (): void => reject(stop.reason);
  const deadline = setTimeout(
    () => reject(new UnreadAnswer('The client did not read its answer.')),
    maxUnreadMs,
  );
  response.once(event, resolve).once('error', reject);
  stop.addEventListener('abort', onStop);
  return promise.finally(() => {
    clearTimeout(deadline);
    stop.removeEventListener('abort', onStop);
    response.off(event, resolve).off('error', reject);
  });
}
