import { messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Limits } from '@whetstone/sandbox';
import { blameAgent } from '../attempt/blame-agent.ts';
import type { TaskConfig } from '../config/config.ts';
import type { TaskRoom } from '../tasks/task-room.ts';
import type { Work, Workplace } from '../verify/judge-work.ts';
import type { MaskPlan } from '../verify/masks/exchange-twins.ts';
import type { Surroundings } from '../verify/tests/run-tests.ts';
import type { TestStatus } from '../verify/tests/test-runner.ts';

/** What the clean room said about a tree. */
export type Graded = {
  /** `broken`: it could not say anything. */
  verdict: 'passed' | 'failed' | 'broken';
  /** What did not pass, or could not be judged, in a sentence; `null`: it passed. */
  why: string | null;
  /** The results of single tests, where a runner reported them. */
  tests: Record<string, TestStatus> | null;
  seconds: number;
};

export type Grade = (work: Work, surroundings?: Surroundings) => Promise<Graded>;

/**
 * Grades work on a task as a run does: with its masks, and what an agent leaves and nobody can read has failed.
 * @throws what aborted it
 */
export function graderOf(
  room: TaskRoom,
  task: TaskConfig,
  { masking, limits, signal }: { masking: MaskPlan | undefined; limits?: Limits; signal: AbortSignal },
): Grade {
  return async (work, surroundings) => {
    const start = performance.now();
    let scene: Workplace | undefined;
    const watched: Work =
      typeof work !== 'function'
        ? work
        : async (place) => {
            scene = place;
            await work(place);
          };
    const seconds = () => (performance.now() - start) / 1000;
    try {
      const found = await room.judge(task, watched, {
        signal,
        ...present({ surroundings, masking, limits }),
      });
      signal.throwIfAborted();
      const tests = found.tests ? Object.fromEntries(found.tests.tests) : null;
      if (found.broken)
        return { verdict: 'broken', why: found.broken.evidence, tests, seconds: found.seconds };
      const isSkipped = found.validation === 'skipped' && found.hard.length === 0;
      const isPassed = found.validation !== 'failed' && found.hardStatus !== 'failed';
      if (isSkipped) return { verdict: 'passed', why: null, tests, seconds: found.seconds };
      return {
        verdict: isPassed ? 'passed' : 'failed',
        why: isPassed ? null : (found.failure ?? 'the checks failed'),
        tests,
        seconds: found.seconds,
      };
    } catch (error) {
      signal.throwIfAborted();
      const blamed = scene && (await blameAgent(error, { ...scene, isDone: true }));
      const why = messageOf(error);
      if (blamed && 'evidence' in blamed)
        return { verdict: 'failed', why: blamed.evidence, tests: null, seconds: seconds() };
      if (!(error instanceof WhetstoneError)) throw error;
      return { verdict: 'broken', why, tests: null, seconds: seconds() };
    }
  };
}
