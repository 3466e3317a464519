import { eValue } from '../stats/e-value.ts';
import type { Parts } from './estimate-difference.ts';
import { counted } from './format.ts';
import type { Comparison, UnplannedLook } from './summary.ts';
import { scaleOf, taskDifferences } from './task-differences.ts';

/** `undefined` where every planned case has finished: then nobody can stop early any more. */
export function unplannedLook(parts: Parts, comparisons: number): UnplannedLook | undefined {
  const [{ metric }] = parts;
  if (scaleOf(metric) !== 'rate' || parts.some(({ bridge }) => bridge)) return undefined;
  const cases = parts.flatMap(({ variant, baseline }) => [...variant.cases, ...baseline.cases]);
  const open = new Set(cases.flatMap((one) => (one.row === null && !one.notRun ? [one.task_id] : [])));
  if (open.size === 0) return undefined;
  const whole = [...taskDifferences(parts)].filter(([task]) => !open.has(task));
  return {
    value: eValue(whole.map(([, { difference }]) => difference)),
    ...{ tasks: whole.length, needed: 20 * comparisons },
  };
}

/** What a reader of an unfinished run has to know, in sentences. */
export function aboutUnplannedLooks(comparisons: readonly Comparison[]): string[] {
  const looks = comparisons.flatMap(({ e_value: look, variant, agent }) =>
    look && look.tasks > 0 ? [{ ...look, arm: `${variant} (${agent})` }] : [],
  );
  const [first] = looks;
  if (!first) return [];
  const values = looks.map(
    ({ arm, value, tasks }) => `${arm}: ${Number(value.toPrecision(2))} over ${counted(tasks, 'task')}`,
  );
  return [
    `Not all cases have finished. To stop because of what this look shows would often be wrong; for a look that nobody planned, only an e-value of ${first.needed} or more shows a difference (${values.join('; ')}). A planned end needs fewer tasks.`,
  ];
}
