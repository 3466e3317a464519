import type { ReplayedTurn, TestCalls } from '../protocol.ts';

/**
 * The calls of a code that plays stored turns. The files are known as they were at the end, so that code which asks for
 * them earlier gets no answer.
 */
export function replayTurns(turns: readonly ReplayedTurn[], calls: Omit<TestCalls, 'send'>): TestCalls {
  const waiting = [...turns];
  const atTheEnd = <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (waiting.length === 0) return ask();
    const more = waiting.length === 1 ? 'another turn follows' : `${waiting.length} more turns follow`;
    throw new Error(
      `a stored case has the files only as they were at the end, and ${more}; run the eval again`,
    );
  };
  return {
    ...calls,
    async send(session, { text }) {
      const turn = waiting.shift();
      if (!turn) throw new Error('the eval sends more messages than the stored case has');
      if (turn.text !== null && (turn.session !== session || turn.text !== text)) {
        throw new Error('the eval sends another message than the one that was stored; run it again');
      }
      const { session: _, text: __, eventCount: ___, ...sent } = turn;
      return sent;
    },
    check: (what) => calls.check(what, waiting.length),
    changes: async () => atTheEnd(calls.changes),
    content: async (path, side) => atTheEnd(() => calls.content(path, side)),
  };
}
