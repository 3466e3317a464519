/** The counts of one task in two arms; each arm has at least one trial. */
export type TaskCounts = {
  variant: { passed: number; trials: number };
  baseline: { passed: number; trials: number };
};

/**
 * Two-sided p-value of "the arms did not differ on these tasks": the share of all ways to deal a task's trials to the
 * two arms in which the mean difference of the rates is at least as large as the one that was seen. Exact, by adding the
 * distributions of the tasks, in integers (rates times the least common multiple of the numbers of trials). It says
 * nothing about tasks that were not run. With one trial per arm it is the sign-flip test.
 */
export function labelPermutationP(tasks: readonly TaskCounts[]): number {
  const scale = tasks
    .flatMap(({ variant, baseline }) => [variant.trials, baseline.trials])
    .reduce(leastCommonMultiple, 1);
  const observed = tasks.reduce(
    (total, { variant, baseline }) =>
      total + variant.passed * (scale / variant.trials) - baseline.passed * (scale / baseline.trials),
    0,
  );
  return shareAsExtreme(
    tasks.map((task) => shiftsOf(task, scale)),
    observed,
  );
}

/**
 * Two-sided p-value of the sign-flip test on differences per task: if the arms were equal, each difference would have
 * either sign with the same chance. Exact for any number of tasks whose differences are multiples of 1/`scale`.
 * @throws RangeError when a difference is not one.
 */
export function signFlipP(differences: readonly number[], scale: number): number {
  const sizes = differences.map((difference) => {
    const size = Math.round(difference * scale);
    if (Math.abs(size - difference * scale) > 1e-6) {
      throw new RangeError(`${difference} is not a multiple of 1/${scale}`);
    }
    return size;
  });
  const flips = sizes.map(
    (size) =>
      new Map(
        size === 0
          ? [[0, 1]]
          : [
              [size, 0.5],
              [-size, 0.5],
            ],
      ),
  );
  return shareAsExtreme(
    flips,
    sizes.reduce((total, size) => total + size, 0),
  );
}

/** What a task can add to the scaled difference, each with its probability (hypergeometric). */
function shiftsOf({ variant, baseline }: TaskCounts, scale: number): Map<number, number> {
  const passed = variant.passed + baseline.passed;
  const ways = new Map<number, number>();
  let total = 0;
  for (let ofVariant = 0; ofVariant <= Math.min(passed, variant.trials); ofVariant += 1) {
    const ofBaseline = passed - ofVariant;
    if (ofBaseline > baseline.trials) continue;
    const count = binomial(variant.trials, ofVariant) * binomial(baseline.trials, ofBaseline);
    total += count;
    ways.set(ofVariant * (scale / variant.trials) - ofBaseline * (scale / baseline.trials), count);
  }
  return new Map([...ways].map(([shift, count]) => [shift, count / total]));
}

function shareAsExtreme(tasks: readonly ReadonlyMap<number, number>[], observed: number): number {
  let sums = new Map([[0, 1]]);
  for (const shifts of tasks) {
    const next = new Map<number, number>();
    for (const [sum, probability] of sums) {
      for (const [shift, share] of shifts) {
        next.set(sum + shift, (next.get(sum + shift) ?? 0) + probability * share);
      }
    }
    sums = next;
  }
  let extreme = 0;
  for (const [sum, probability] of sums) if (Math.abs(sum) >= Math.abs(observed)) extreme += probability;
  return Math.min(1, extreme);
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i += 1) result = (result * (n - k + i)) / i;
  return result;
}

function leastCommonMultiple(a: number, b: number): number {
  return (a / greatestCommonDivisor(a, b)) * b;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
