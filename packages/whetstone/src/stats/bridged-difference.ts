import { present } from '@whetstone/events/present';
import { clipInterval } from './interval.ts';
import {
  type DifferenceOptions,
  METHODS,
  type PopulationDifference,
  populationDifference,
  type TaskDifference,
  twoSidedP,
} from './population-difference.ts';
import { studentTQuantile } from './student-t.ts';

export type BridgedDifference = PopulationDifference & {
  /** Mean over the bridge tasks of (baseline now − saved baseline): how far the day moved it. */
  drift: number;
  bridgeTasks: number;
};

/**
 * The difference between a variant and a baseline that was saved on another day, less the drift that bridge trials of the
 * baseline show: mean_K(V − S) − mean_M(B − S), where the M bridge tasks are a random part of the K tasks. The standard error is
 * that of this sum: over the bridge tasks, of u = f(V − S) − (B − S) with f = M/K, and over the others, of V − S. With a bridge
 * on every task it is the comparison with the trials of today, and the saved ones count for nothing.
 *
 * The alternative of adding the squared drift to SE² and correcting nothing (statistics, R5) has up to 11 % false positives
 * with 50 tasks and more under a drift of 5 to 10 points (`npm run bench -- truth`).
 * @param compared V − S of each task. `bridge`: B − S of some of them, at least two.
 * @throws RangeError with fewer bridge tasks.
 */
export function bridgedDifference(
  compared: ReadonlyMap<string, TaskDifference>,
  bridge: ReadonlyMap<string, TaskDifference>,
  { level = 0.95, scale = 'rate', widening }: DifferenceOptions = {},
): BridgedDifference {
  const bridged = [...compared].flatMap(([task, x]) => {
    const y = bridge.get(task);
    return y ? [{ x, y }] : [];
  });
  if (bridged.length < 2) throw new RangeError(`${bridged.length} bridge tasks measure no drift`);
  const others = [...compared].flatMap(([task, x]) => (bridge.has(task) ? [] : [x]));
  // A single other task has no spread to tell its part of the error.
  const rest = others.length < 2 ? [] : others;
  const tasks = bridged.length + rest.length;
  const share = bridged.length / tasks;
  const options = { scale, level, ...present({ widening }) };
  const parts = [
    {
      of: populationDifference(
        bridged.map((one) => joined(one, share)),
        options,
      ),
      weight: 1,
    },
    ...(rest.length > 0 ? [{ of: populationDifference(rest, options), weight: 1 - share }] : []),
  ];
  const difference = sum(parts.map(({ of, weight }) => weight * of.difference));
  const variances = parts.map(({ of, weight }) => (weight * (of.standardError ?? 0)) ** 2);
  const standardError = Math.sqrt(sum(variances));
  const freedom = degreesOfFreedom(
    variances.map((variance, i) => ({ variance, tasks: parts[i]?.of.tasks ?? 2 })),
  );
  const margin = studentTQuantile((1 + level) / 2, freedom) * standardError;
  const interval = { low: difference - margin, high: difference + margin, level, method: METHODS[scale] };
  return {
    ...{ difference, tasks, standardError },
    standardDeviation: standardError * Math.sqrt(tasks),
    interval: scale === 'rate' ? clipInterval(interval, -1, 1) : interval,
    pValue: twoSidedP(difference, standardError, freedom),
    drift: sum(bridged.map(({ y }) => y.difference)) / bridged.length,
    bridgeTasks: bridged.length,
  };
}

/** f(V − S) − (B − S) = fV − B + (1 − f)S, with the trials whose noise it has. */
function joined({ x, y }: { x: TaskDifference; y: TaskDifference }, share: number): TaskDifference {
  return {
    difference: share * x.difference - y.difference,
    trials: {
      variant: x.trials.variant / share ** 2,
      baseline: 1 / (1 / y.trials.variant + (1 - share) ** 2 / x.trials.baseline),
    },
  };
}

/** Welch and Satterthwaite. */
function degreesOfFreedom(parts: readonly { variance: number; tasks: number }[]): number {
  const total = sum(parts.map(({ variance }) => variance));
  if (total === 0) return sum(parts.map(({ tasks }) => tasks - 1));
  return total ** 2 / sum(parts.map(({ variance, tasks }) => variance ** 2 / (tasks - 1)));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
