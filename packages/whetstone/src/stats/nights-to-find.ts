import { drawPassed, drawRate } from './draw-counts.ts';
import { openDetector } from './drift-detector.ts';
import { joined, nightScore, type TaskTrials } from './night-score.ts';
import { seededRandom } from './seeded-random.ts';

/** A drift that is not found in so many nights is not found in time. */
export const MOST_NIGHTS = 60;

/**
 * After how many nights the detector finds that the tasks have begun to pass `drop` less often on average: the median of simulations.
 * The rate of a task is drawn from what its trials leave possible; then each passing trial fails with the chance that makes the drop.
 * `null`: not in 60 nights. `undefined`: the tasks pass too rarely for such a drop.
 */
export function nightsToFind(
  before: TaskTrials,
  {
    drop,
    trials,
    alarm,
    replays,
    seed,
  }: { drop: number; trials: number; alarm: number; replays: number; seed: string },
): number | null | undefined {
  const random = seededRandom(seed);
  const counts = [...before.values()];
  const passing =
    counts.reduce((total, { passed, trials: all }) => total + (passed + 0.5) / (all + 1), 0) / counts.length;
  if (counts.length === 0 || drop > passing) return undefined;
  const kept = 1 - drop / passing;
  const nights = Array.from({ length: replays }, () => {
    const rates = new Map(
      [...before].map(([task, { passed, trials: all }]) => [
        task,
        kept * drawRate(passed, all - passed, random),
      ]),
    );
    return nightsOf(before, { rates, trials, alarm }, random);
  }).sort((a, b) => a - b);
  const median = nights[Math.floor(replays / 2)] ?? Number.POSITIVE_INFINITY;
  return median <= MOST_NIGHTS ? median : null;
}

/** The number of the first night with an alarm, counted from 1. Infinity: there is no alarm. */
function nightsOf(
  start: TaskTrials,
  { rates, trials, alarm }: { rates: ReadonlyMap<string, number>; trials: number; alarm: number },
  random: () => number,
): number {
  const watch = openDetector();
  let before = start;
  for (let night = 1; night <= MOST_NIGHTS; night += 1) {
    const tonight = new Map(
      [...rates].map(([task, rate]) => [task, { passed: drawPassed(rate, trials, random), trials }]),
    );
    if (watch(nightScore(before, tonight, random())) >= alarm) return night;
    before = joined(before, tonight);
  }
  return Number.POSITIVE_INFINITY;
}
