import { normalQuantile } from './normal.ts';

export type Counts = { passed: number; trials: number };

/** The trials of each task, by a key that changes with the content of the task. */
export type TaskTrials = ReadonlyMap<string, Counts>;

/** `score`: standard normal without a drift. `before`, `tonight`: the trials that it compares. */
export type NightScore = { score: number; before: number; tonight: number };

/** A probability of 0 or 1 has no quantile. */
const SMALLEST = 1e-12;

/**
 * How far tonight's passes are from those of all nights before, as a standard normal number; negative: fewer passes.
 *
 * While nothing drifts, each task has the same pass rate every night. Then, given how many of all its trials so far have passed,
 * every choice of the ones that were tonight's is equally likely: the number of passes tonight is hypergeometric, and so is the
 * sum over tasks a convolution. `draw`, a uniform number from [0, 1), decides between equal sums, so that the place of tonight's
 * sum is exactly uniform, whatever the rates of the tasks are, and independent of the places of the nights before (Vovk, Gammerman
 * and Shafer, Algorithmic learning in a random world, 2005, theorem 8.1). The first nights, which are the baseline, are as uncertain
 * as their number of trials makes them, and no night is taken for the truth.
 *
 * `null`: nothing to learn, because no task has trials of both, or all of them have passed or failed so far.
 */
export function nightScore(before: TaskTrials, tonight: TaskTrials, draw: number): NightScore | null {
  let chances = [1];
  let [observed, trialsBefore, trialsTonight] = [0, 0, 0];
  for (const [task, { passed, trials }] of tonight) {
    const earlier = before.get(task);
    if (!earlier || earlier.trials === 0 || trials === 0) continue;
    const ofTask = passesTonight(earlier.trials + trials, earlier.passed + passed, trials);
    trialsBefore += earlier.trials;
    trialsTonight += trials;
    observed += passed - ofTask.fewest;
    chances = sumOf(chances, ofTask.chances);
  }
  if (chances.length === 1) return null;
  const below = chances.slice(0, observed).reduce((total, one) => total + one, 0);
  const place = below + draw * (chances[observed] ?? 0);
  const score = normalQuantile(Math.min(1 - SMALLEST, Math.max(SMALLEST, place)));
  return { score, before: trialsBefore, tonight: trialsTonight };
}

/** The trials of two lots of nights together. */
export function joined(one: TaskTrials, other: TaskTrials): Map<string, Counts> {
  const all = new Map(one);
  for (const [task, { passed, trials }] of other) {
    const known = all.get(task) ?? { passed: 0, trials: 0 };
    all.set(task, { passed: known.passed + passed, trials: known.trials + trials });
  }
  return all;
}

/** The chances of `fewest`, `fewest + 1`, … passes among `tonight` of `trials`, of which `passed` passed. */
function passesTonight(trials: number, passed: number, tonight: number) {
  const fewest = Math.max(0, tonight - (trials - passed));
  const most = Math.min(tonight, passed);
  const chances: number[] = [];
  for (let count = fewest; count <= most; count += 1) {
    // Choose which of tonight's trials pass, then draw them one after the other.
    let chance = 1;
    for (let i = 0; i < count; i += 1) chance *= ((tonight - i) / (i + 1)) * ((passed - i) / (trials - i));
    for (let i = 0; i < tonight - count; i += 1) chance *= (trials - passed - i) / (trials - count - i);
    chances.push(chance);
  }
  return { fewest, chances };
}

function sumOf(one: readonly number[], other: readonly number[]): number[] {
  if (other.length === 1) return [...one];
  const sums = new Array<number>(one.length + other.length - 1).fill(0);
  one.forEach((chance, i) => {
    other.forEach((another, j) => {
      sums[i + j] = (sums[i + j] ?? 0) + chance * another;
    });
  });
  return sums;
}
