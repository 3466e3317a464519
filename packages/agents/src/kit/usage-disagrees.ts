/** How far two counts of the same tokens may be from each other before it is said: rounding, and a title that was asked for. */
const TOLERANCE = 0.02;

/** Whether `counted` tells of other calls than `truth`. Both are sums of tokens. */
export const disagree = (counted: number, truth: number): boolean =>
  Math.abs(counted - truth) > TOLERANCE * truth;
