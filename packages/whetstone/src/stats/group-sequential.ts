import { normalCdf } from './normal.ts';

/**
 * The looks of a sequential run: after which share of its tasks, and at which level of a two-sided test, it may end. Over all
 * looks, 5 % of runs without a difference end with one (O'Brien and Fleming's boundaries; statistics, R4).
 */
export const LOOKS = [
  { share: 0.25, alpha: 0.00001 },
  { share: 0.5, alpha: 0.00305 },
  { share: 0.75, alpha: 0.01832 },
  { share: 1, alpha: 0.044 },
] as const;

/** With fewer tasks, the first two looks have none or too few to say anything. */
export const FEWEST_TASKS_OF_LOOKS = 8;

/**
 * Whether a run that has seen `share` of its tasks has less than 10 % chance to still show a difference, if what it has
 * seen is true: Φ((z − 1.96√f)/√(1 − f)) < 0.1 (statistics, R4).
 * @param z Size of the difference so far, in standard errors.
 */
export function isFutile(z: number, share: number): boolean {
  return normalCdf((z - 1.96 * Math.sqrt(share)) / Math.sqrt(1 - share)) < 0.1;
}
