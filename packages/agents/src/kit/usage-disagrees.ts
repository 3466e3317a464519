/** How far two counts of the same tokens may differ without a report, for example because of a title request. */
const TOLERANCE = 0.02;

/** Whether two sums of tokens differ so much that `counted` must come from other calls than `truth`. */
export const disagree = (counted: number, truth: number): boolean =>
  Math.abs(counted - truth) > TOLERANCE * truth;
