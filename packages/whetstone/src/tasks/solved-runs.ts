import type { TestReport } from '../verify/tests/test-runner.ts';
import type { Refusal } from './refusal.ts';

/** Runs the tests of a solved tree, or says what an earlier run with the same key has found. */
export type SolvedRuns = (
  key: string,
  run: () => Promise<TestReport | Refusal>,
) => Promise<TestReport | Refusal>;

/** Of many tasks the same tree is the solution: HEAD. What its tests do there is found out once. */
export function openSolvedRuns(): SolvedRuns {
  const known = new Map<string, Promise<TestReport | Refusal>>();
  return async (key, run) => {
    const earlier = await known.get(key);
    // A tree that could not be set up says nothing about the next one.
    if (earlier && !('refused' in earlier)) return earlier;
    const running = run();
    known.set(key, running);
    return running;
  };
}
