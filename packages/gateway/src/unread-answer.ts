import type { AnswerBody } from './answer.ts';

export class UnreadAnswer extends Error {
  override readonly name = 'UnreadAnswer';
}

/**
 * Detects a client that does not read. By back-pressure, a chunk that was passed on waits here until there is room for
 * the next one. The silence of a provider does not count. `gaveUp` is aborted with an `UnreadAnswer`.
 */
export function watchReader(maxUnreadMs: number) {
  const unread = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  /** Ends the watch. Must be called on every path. */
  const stop = (): void => clearTimeout(deadline);
  const start = (): void => {
    stop();
    deadline = setTimeout(
      () => unread.abort(new UnreadAnswer('The client did not read its answer.')),
      maxUnreadMs,
    );
  };
  /** The body, watched while the client reads it. */
  async function* watched(chunks: AnswerBody): AsyncGenerator<string | Uint8Array> {
    for await (const chunk of chunks) {
      start();
      yield chunk;
      stop();
    }
    // The client must also read what is still in the connection.
    start();
  }
  const gaveUp: AbortSignal = unread.signal;
  return { watched, gaveUp, stop };
}
