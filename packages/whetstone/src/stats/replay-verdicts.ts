import type { Interval } from './interval.ts';
import { FEWEST_TASKS, populationDifference, powerOf } from './population-difference.ts';
import { seededRandom } from './seeded-random.ts';
import { wilson } from './wilson-interval.ts';

export type Replayed = {
  replays: number;
  /** Share of the replays with a verdict. */
  share: number;
  /** 95 %, for the number of replays. */
  interval: Interval;
};

export type Calibration = {
  tasks: number;
  /** Replays of the arm against itself that end with "better" or "worse", which is false. */
  false_alarms: Replayed;
  /** Replays with a planted difference that end with "better"; `null` where the tasks have no room for one of that size. */
  found: (Replayed & { effect: number; announced: number }) | null;
};

type Counts = { passed: number; trials: number };

/**
 * Replays a suite against itself, to see how often its verdicts are wrong and what they find. In each replay, tasks are drawn
 * with replacement; the rate of a task is drawn from what its trials leave possible (Beta with a prior of ½ and ½); both arms
 * get as many trials of it as were stored. For the planted difference, each failing trial of the second arm passes with the
 * chance that adds `effect` on average. `seed` only decides which replays are drawn.
 * @throws RangeError with fewer than four tasks, which never make a verdict.
 */
export function replayVerdicts(
  tasks: readonly Counts[],
  { effect, replays, seed }: { effect: number; replays: number; seed: string },
): Calibration {
  if (tasks.length < FEWEST_TASKS) throw new RangeError(`${tasks.length} tasks never make a verdict`);
  const random = seededRandom(seed);
  const room = mean(tasks.map(({ passed, trials }) => 1 - (passed + 0.5) / (trials + 1)));
  const chance = effect / room;
  const [alone, planted] = [0, chance].map((lift) => {
    const shown = Array.from({ length: replays }, () => replay(tasks, lift, random));
    return {
      verdicts: shown.filter(({ isSignificant }) => isSignificant).length,
      better: shown.filter(({ isSignificant, difference }) => isSignificant && difference > 0).length,
      spread: Math.sqrt(mean(shown.map(({ spread }) => spread ** 2))),
    };
  });
  const noise = mean(tasks.map(({ trials }) => 1 / trials));
  return {
    tasks: tasks.length,
    false_alarms: shareOf(alone?.verdicts ?? 0, replays),
    found:
      planted === undefined || chance > 1
        ? null
        : {
            ...shareOf(planted.better, replays),
            effect,
            announced: powerOf(effect, tasks.length, planted.spread, noise),
          },
  };
}

function replay(tasks: readonly Counts[], lift: number, random: () => number) {
  const differences = tasks.map(() => {
    const { passed, trials } = tasks[Math.floor(random() * tasks.length)] ?? { passed: 0, trials: 1 };
    const rate = drawRate(passed, trials - passed, random);
    const baseline = drawPassed(rate, trials, random);
    const variant = drawPassed(rate + (1 - rate) * lift, trials, random);
    return { difference: (variant - baseline) / trials, trials: { variant: trials, baseline: trials } };
  });
  const { difference, interval, pValue, standardDeviation } = populationDifference(differences);
  const excludesNone = interval !== null && (interval.low > 0 || interval.high < 0);
  return { difference, spread: standardDeviation ?? 0, isSignificant: excludesNone && (pValue ?? 1) < 0.05 };
}

/** A draw from Beta(passed + ½, failed + ½): a share of two sums of squared normal numbers. */
function drawRate(passed: number, failed: number, random: () => number): number {
  const squares = (count: number) => {
    let total = 0;
    for (let i = 0; i < count; i += 1) total += drawNormal(random) ** 2;
    return total;
  };
  const [ofPassed, ofFailed] = [squares(2 * passed + 1), squares(2 * failed + 1)];
  return ofPassed / (ofPassed + ofFailed);
}

/** Box and Muller. */
const drawNormal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function drawPassed(rate: number, trials: number, random: () => number): number {
  let passed = 0;
  for (let i = 0; i < trials; i += 1) if (random() < rate) passed += 1;
  return passed;
}

function shareOf(count: number, replays: number): Replayed {
  return { replays, share: count / replays, interval: wilson(count, replays) };
}

const mean = (values: readonly number[]): number =>
  values.reduce((total, one) => total + one, 0) / values.length;
