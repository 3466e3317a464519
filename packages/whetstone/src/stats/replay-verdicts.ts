import { drawPassed, drawRate } from './draw-counts.ts';
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
 *
 * With `perSide`, nothing is assumed of the rate of a task: its trials are dealt to the two sides, `perSide` to each.
 * @throws RangeError with fewer than four tasks, which never make a verdict, and for tasks with too few trials for both sides.
 */
export function replayVerdicts(
  tasks: readonly Counts[],
  { effect, replays, seed, perSide }: { effect: number; replays: number; seed: string; perSide?: number },
): Calibration {
  if (perSide !== undefined && tasks.some(({ trials }) => trials < 2 * perSide))
    throw new RangeError(`some tasks have fewer than ${2 * perSide} trials`);
  if (tasks.length < FEWEST_TASKS) throw new RangeError(`${tasks.length} tasks never make a verdict`);
  const random = seededRandom(seed);
  const room = mean(tasks.map(({ passed, trials }) => 1 - (passed + 0.5) / (trials + 1)));
  const chance = effect / room;
  const [alone, planted] = [0, chance].map((lift) => {
    const shown = Array.from({ length: replays }, () => replay(tasks, { lift, perSide }, random));
    return {
      verdicts: shown.filter(({ isSignificant }) => isSignificant).length,
      better: shown.filter(({ isSignificant, difference }) => isSignificant && difference > 0).length,
      spread: Math.sqrt(mean(shown.map(({ spread }) => spread ** 2))),
    };
  });
  const noise = mean(tasks.map(({ trials }) => 1 / (perSide ?? trials)));
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

type Draw = { lift: number; perSide: number | undefined };

function replay(tasks: readonly Counts[], { lift, perSide }: Draw, random: () => number) {
  const differences = tasks.map(() => {
    const task = tasks[Math.floor(random() * tasks.length)] ?? { passed: 0, trials: 1 };
    const sides = perSide === undefined ? drawSides(task, random) : dealSides(task, perSide, random);
    const trials = perSide ?? task.trials;
    const lifted = sides.variant + drawPassed(lift, trials - sides.variant, random);
    return { difference: (lifted - sides.baseline) / trials, trials: { variant: trials, baseline: trials } };
  });
  const { difference, interval, pValue, standardDeviation } = populationDifference(differences);
  const excludesNone = interval !== null && (interval.low > 0 || interval.high < 0);
  return { difference, spread: standardDeviation ?? 0, isSignificant: excludesNone && (pValue ?? 1) < 0.05 };
}

/** New trials of the rate that the stored ones leave possible. */
function drawSides({ passed, trials }: Counts, random: () => number) {
  const rate = drawRate(passed, trials - passed, random);
  return { baseline: drawPassed(rate, trials, random), variant: drawPassed(rate, trials, random) };
}

/** The stored trials themselves, each on one side at most. */
function dealSides({ passed, trials }: Counts, perSide: number, random: () => number) {
  const left = { passed, trials };
  const take = () => {
    let taken = 0;
    for (let i = 0; i < perSide; i += 1) {
      if (random() * left.trials < left.passed) {
        taken += 1;
        left.passed -= 1;
      }
      left.trials -= 1;
    }
    return taken;
  };
  return { baseline: take(), variant: take() };
}

function shareOf(count: number, replays: number): Replayed {
  return { replays, share: count / replays, interval: wilson(count, replays) };
}

const mean = (values: readonly number[]): number =>
  values.reduce((total, one) => total + one, 0) / values.length;
