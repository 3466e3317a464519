import type { StreamEvent } from '@whetstone/events';
import type { Turn } from '../agent.ts';

/** Await it for the finished turn; iterate over it for all its events. Leaving the loop early stops the agent. */
export type DrivenTurn = Promise<Turn> & AsyncIterable<StreamEvent>;

/** Starts a turn that reports its events with `emit`, and ends when `left` fires. */
export function startTurn(
  run: (emit: (event: StreamEvent) => void, left: AbortSignal) => Promise<Turn>,
): DrivenTurn {
  const events: StreamEvent[] = [];
  const leaving = new AbortController();
  let news = Promise.withResolvers<void>();
  let isOver = false;
  const wake = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const emit = (event: StreamEvent) => {
    events.push(event);
    wake();
  };
  const turn = run(emit, leaving.signal).finally(() => {
    isOver = true;
    wake();
  });

  async function* iterate(): AsyncGenerator<StreamEvent, void, undefined> {
    let isLeft = true;
    try {
      let read = 0;
      while (read < events.length || !isOver) {
        const event = events[read];
        if (event) {
          read += 1;
          yield event;
        } else {
          await news.promise;
        }
      }
      isLeft = false;
      await turn; // what went wrong is thrown from the loop
    } finally {
      if (isLeft) {
        leaving.abort();
        await turn.catch(() => undefined);
      }
    }
  }
  return Object.assign(turn, {
    [Symbol.asyncIterator]() {
      turn.catch(() => undefined); // the loop throws it
      return iterate();
    },
  });
}
