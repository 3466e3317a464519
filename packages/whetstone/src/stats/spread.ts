/** The variance over tasks of the difference of two arms, in two parts: `between + within / trials`. */
export type Spread = {
  /** Variance of the true differences of the tasks. More trials do not shrink it. */
  between: number;
  /** What one trial per arm adds: mean over tasks of p_A(1 − p_A) + p_B(1 − p_B). */
  within: number;
};

/** Standard deviation over tasks of the differences with so many trials per arm. */
export const spreadWith = ({ between, within }: Spread, trials: number): number =>
  Math.sqrt(between + within / trials);

/**
 * What a plan assumes without an earlier run: rates around one half, an intra-task correlation of 0.5, and a correlation of
 * 0.7 between the two true rates of a task (statistics, the model of its revision).
 */
export const ASSUMED_SPREAD: Spread = { between: 0.075, within: 0.25 };

type Counts = { passed: number; trials: number };

/**
 * The spread that a run shows; `null` with fewer than two tasks. With one trial per arm the two parts cannot be separated:
 * their sum is measured then, and divided as `ASSUMED_SPREAD` is.
 */
export function estimateSpread(
  tasks: readonly { variant: Counts; baseline: Counts }[],
): { spread: Spread; isDivided: boolean } | null {
  if (tasks.length < 2) return null;
  const total = variance(tasks.map(({ variant, baseline }) => rate(variant) - rate(baseline)));
  if (tasks.some(({ variant, baseline }) => variant.trials < 2 || baseline.trials < 2)) {
    const share = ASSUMED_SPREAD.between / (ASSUMED_SPREAD.between + ASSUMED_SPREAD.within);
    return { spread: { between: share * total, within: (1 - share) * total }, isDivided: false };
  }
  const noise = mean(
    tasks.map(
      ({ variant, baseline }) => noiseOf(variant) / variant.trials + noiseOf(baseline) / baseline.trials,
    ),
  );
  const within = mean(tasks.map(({ variant, baseline }) => noiseOf(variant) + noiseOf(baseline)));
  return { spread: { between: Math.max(0, total - noise), within }, isDivided: true };
}

const rate = ({ passed, trials }: Counts): number => passed / trials;

/** p(1 − p), without the bias of few trials. */
const noiseOf = (counts: Counts): number =>
  (rate(counts) * (1 - rate(counts)) * counts.trials) / (counts.trials - 1);

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((total, one) => total + (one - middle) ** 2, 0) / (values.length - 1);
}

const mean = (values: readonly number[]): number =>
  values.reduce((total, one) => total + one, 0) / values.length;
