import type { TaskCounts } from '../stats/label-permutation.ts';
import type { Scale, TaskDifference } from '../stats/population-difference.ts';
import type { CaseResult } from './case-results.ts';
import type { Arm, Summary } from './summary.ts';
import { isAmount, taskValues } from './task-values.ts';

/** An arm with its planned cases. */
export type ArmCases = { arm: Arm; cases: readonly CaseResult[] };

/** A variant with the baseline of the same agent, and what they are compared by. */
export type ArmPair = {
  variant: ArmCases;
  baseline: ArmCases;
  metric: Summary['metric'];
  /** Where the baseline was saved on another day: trials of the same arm of both days. Absent: they ran side by side, or nothing shows the drift. */
  bridge?: { now: ArmCases; saved: ArmCases };
};

export const scaleOf = ({ kind }: Summary['metric']): Scale => (isAmount(kind) ? 'log_ratio' : 'rate');

/** A number on the scale of the statistics as reports have it: amounts as the relative change. */
export const shownOn = (scale: Scale, value: number): number =>
  scale === 'rate' ? value : Math.expm1(value);

/** The other way round. */
export const measuredOn = (scale: Scale, shown: number): number =>
  scale === 'rate' ? shown : Math.log1p(shown);

/** What the cases without a result count as, seen from the variant: as badly as possible, or as well. */
export type Missing = 'against' | 'in-favor';

/**
 * The differences of the tasks that have a result in both arms, by task id. Of several pairs, each of one agent, the mean
 * of the differences of a task over all of them. Without `missing`, the cases without a result are left out, and so are the
 * tasks that took nothing in an arm: an amount of 0 has no ratio.
 */
export function taskDifferences(pairs: readonly ArmPair[], missing?: Missing): Map<string, TaskDifference> {
  const [first, ...others] = pairs.map((pair) => differencesOf(pair, missing));
  if (!first) return new Map();
  return new Map(
    [...first].flatMap(([task, one]) => {
      const all = [one, ...others.flatMap((other) => other.get(task) ?? [])];
      return all.length === pairs.length ? [[task, meanOf(all)] as const] : [];
    }),
  );
}

/** The passes of each task and agent, for the permutation of labels. */
export const countsOf = (pairs: readonly ArmPair[]): TaskCounts[] =>
  pairs.flatMap((pair) =>
    [...valuePairs(pair).values()].map(({ variant, baseline }) => ({
      variant: { passed: sum(variant), trials: variant.length },
      baseline: { passed: sum(baseline), trials: baseline.length },
    })),
  );

function differencesOf(pair: ArmPair, missing: Missing | undefined): Map<string, TaskDifference> {
  const isRate = scaleOf(pair.metric) === 'rate';
  const widest = missing && !isRate ? widestRatio(pair) : undefined;
  return new Map(
    [...valuePairs(pair, missing)].flatMap(([task, { variant, baseline }]) => {
      const [ofVariant, ofBaseline] = [mean(variant), mean(baseline)];
      const difference = isRate ? ofVariant - ofBaseline : logOfRatio(ofVariant, ofBaseline, widest);
      if (difference === undefined) return [];
      return [
        [task, { difference, trials: { variant: variant.length, baseline: baseline.length } }] as const,
      ];
    }),
  );
}

/** `widest`: what it counts as where one of the amounts is 0, which is further away than any ratio. Default: `undefined`. */
function logOfRatio(variant: number, baseline: number, widest?: number): number | undefined {
  if (variant > 0 && baseline > 0) return Math.log(variant / baseline);
  return widest === undefined ? undefined : Math.sign(variant - baseline) * widest;
}

/** The logarithm of the largest ratio of two amounts that were seen. */
function widestRatio({ variant, baseline, metric }: ArmPair): number | undefined {
  const [largest, smallest] = extremesOf([variant, baseline], metric);
  return largest === undefined || smallest === undefined ? undefined : Math.log(largest / smallest);
}

/** The values of each task that has some in both arms. */
function valuePairs({ variant, baseline, metric }: ArmPair, missing?: Missing) {
  const [worst, best] = missing ? extremesOf([variant, baseline], metric) : [];
  const [ofMissing, inBaseline] = missing === 'against' ? [worst, best] : [best, worst];
  const ofBaseline = taskValues(baseline.cases, metric.kind, inBaseline);
  return new Map(
    [...taskValues(variant.cases, metric.kind, ofMissing)].flatMap(([task, values]) => {
      const base = ofBaseline.get(task);
      return base ? [[task, { variant: values, baseline: base }] as const] : [];
    }),
  );
}

/** The worst and the best that a value can be. An amount has no bounds: the largest and the smallest one over 0 that was seen. */
function extremesOf(arms: readonly ArmCases[], { kind }: Summary['metric']): (number | undefined)[] {
  if (!isAmount(kind)) return [0, 1];
  const seen = arms
    .flatMap(({ cases }) => [...taskValues(cases, kind).values()].flat())
    .filter((one) => one > 0);
  return seen.length === 0 ? [] : [Math.max(...seen), Math.min(...seen)];
}

/** The mean of differences of as many agents. Its noise is that of T trials with 1/T = mean(1/T_a)/agents. */
function meanOf(differences: readonly TaskDifference[]): TaskDifference {
  const [only] = differences;
  if (only && differences.length === 1) return only;
  const trials = (arm: 'variant' | 'baseline') =>
    differences.length ** 2 / sum(differences.map((one) => 1 / one.trials[arm]));
  return {
    difference: mean(differences.map(({ difference }) => difference)),
    trials: { variant: trials('variant'), baseline: trials('baseline') },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const mean = (values: readonly number[]): number => sum(values) / values.length;
