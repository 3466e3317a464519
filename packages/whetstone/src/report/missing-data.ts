import { labelPermutationP } from '../stats/label-permutation.ts';
import type { CaseResult } from './case-results.ts';
import { pValue } from './format.ts';
import type { Comparison, MissingData, RatePair } from './summary.ts';
import type { ArmPair } from './task-differences.ts';

/** Compares the cases that ended in an error, and those that were retried, between the arms. `null`: there are none. */
export function missingData(parts: readonly ArmPair[]): MissingData | null {
  const errors = compareCounts(parts, ({ row }) => row?.outcome === 'error');
  const retried = compareCounts(parts, ({ row }) => (row?.retries ?? 0) > 0);
  return errors.p_value === null && retried.p_value === null ? null : { errors, retried };
}

function compareCounts(parts: readonly ArmPair[], has: (one: CaseResult) => boolean): RatePair {
  const countOf = (cases: readonly CaseResult[]) => {
    const finished = cases.filter(({ row }) => row !== null);
    return { count: finished.filter(has).length, cases: finished.length };
  };
  const variant = countOf(parts.flatMap((part) => part.variant.cases));
  const baseline = countOf(parts.flatMap((part) => part.baseline.cases));
  if (variant.count + baseline.count === 0) return { variant, baseline, p_value: null };
  const tasks = parts.flatMap((part) => {
    const ofBaseline = Map.groupBy(part.baseline.cases, (one) => one.task_id);
    return [...Map.groupBy(part.variant.cases, (one) => one.task_id)].flatMap(([task, cases]) => {
      const [a, b] = [countOf(cases), countOf(ofBaseline.get(task) ?? [])];
      if (a.cases === 0 || b.cases === 0) return [];
      return [
        {
          variant: { passed: a.count, trials: a.cases },
          baseline: { passed: b.count, trials: b.cases },
        },
      ];
    });
  });
  return { variant, baseline, p_value: tasks.length === 0 ? null : labelPermutationP(tasks) };
}

/** Missing data that are not spread alike, in sentences. */
export function aboutMissingData(comparisons: readonly Comparison[]): string[] {
  return comparisons.flatMap(({ missing_data: data, variant, baseline, agent }) => {
    if (!data) return [];
    const say = ({ variant: a, baseline: b, p_value: p }: RatePair, what: string, so: string) =>
      p !== null && p < 0.05
        ? [
            `${what}: ${a.count} of ${a.cases} cases of ${variant} and ${b.count} of ${b.cases} of ${baseline} (${agent}, ${pValue(p)}, exact permutation within tasks). ${so}`,
          ]
        : [];
    return [
      ...say(
        data.errors,
        'Errors are not spread alike',
        'The missing cases may not be like the others, so read the difference at both of its bounds.',
      ),
      ...say(
        data.retried,
        'Retries are not spread alike',
        'Something disturbed one arm more than the other.',
      ),
    ];
  });
}
