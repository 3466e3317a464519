import { FEWEST_TASKS, tasksNeeded, trialNoise } from '../stats/population-difference.ts';
import { PLANNED_DIFFERENCE } from './comparison-verdict.ts';
import { estimateDifference } from './estimate-difference.ts';
import { counted, points, pointsRange } from './format.ts';
import { type ArmPair, taskDifferences } from './task-differences.ts';

/** `delta > bound`: the difference of the pass rates, B − A, must be above `bound` (−0.05 for −5 pp). */
export type Gate = { text: string; bound: number };

export type GateResult = {
  gate: string;
  bound: number;
  status: 'passed' | 'failed' | 'inconclusive';
  /** Tasks like these that would decide it with 80 % power; `null` where the spread over tasks is unknown. */
  tasks_needed: number | null;
  sentence: string;
};

/**
 * Tests a bound, never the point. Every pair must be above it:
 * - `passed` when all 95 % intervals lie above the bound, also if every case without a result came out against it;
 * - `failed` when the interval of some pair lies below it, also in the best case; at 95 % over all pairs (Bonferroni);
 * - else `inconclusive`.
 */
export function judgeGate({ text, bound }: Gate, pairs: readonly ArmPair[]): GateResult {
  const judged = pairs.map((pair) => ({ ...judgePair(pair, bound, pairs.length), pair }));
  const failed = judged.find(({ status }) => status === 'failed');
  const open = judged.filter(({ status }) => status === 'inconclusive');
  const decisive = failed ?? open[0] ?? judged[0];
  const status = decisive?.status ?? 'inconclusive';
  const needed = open.length === 0 ? null : mostNeeded(open.map(({ needed }) => needed));
  const range = decisive?.interval ? pointsRange(decisive.interval.low, decisive.interval.high) : undefined;
  const found =
    range === undefined ? `fewer than ${FEWEST_TASKS} tasks can settle nothing` : `95 % interval ${range}`;
  const outlook = status === 'inconclusive' ? `; ${outlookOf(bound, needed)}` : '';
  return {
    ...{ gate: text, bound, status, tasks_needed: status === 'inconclusive' ? needed : null },
    sentence: `gate ${text}: ${status}: ${found} against a bound of ${points(bound)} pp${outlook}`,
  };
}

function judgePair(pair: ArmPair, bound: number, pairs: number) {
  const differences = [...taskDifferences([pair]).values()];
  const tasks = differences.length;
  const found = estimateDifference([pair]);
  const spread = found?.standardDeviation ?? null;
  const needed = spread === null ? null : tasksNeeded(distanceTo(bound), spread, trialNoise(differences));
  if (tasks < FEWEST_TASKS) return { status: 'inconclusive' as const, interval: null, needed };
  const worst = estimateDifference([pair], { missing: 'against' })?.interval;
  const best = estimateDifference([pair], { missing: 'in-favor', level: 1 - 0.05 / pairs })?.interval;
  const interval = found?.interval ?? null;
  const status =
    worst && interval && Math.min(worst.low, interval.low) > bound
      ? ('passed' as const)
      : best && interval && Math.max(best.high, interval.high) < bound
        ? ('failed' as const)
        : ('inconclusive' as const);
  return { status, interval, needed };
}

/** How far the true difference is from the bound that a plan assumes. It is never the observed one (statistics, R3). */
const distanceTo = (bound: number): number => (bound < 0 ? -bound : PLANNED_DIFFERENCE);

const mostNeeded = (counts: readonly (number | null)[]): number | null =>
  counts.reduce<number | null>(
    (most, one) => (most === null || one === null ? null : Math.max(most, one)),
    0,
  );

function outlookOf(bound: number, needed: number | null): string {
  if (needed === null) return 'how many tasks would settle it is unknown';
  const truth =
    bound < 0 ? 'if the arms do not differ' : `if B is truly ${points(bound + PLANNED_DIFFERENCE)} pp better`;
  return `about ${counted(needed, 'task')} like these would settle it (80 % power, ${truth})`;
}
