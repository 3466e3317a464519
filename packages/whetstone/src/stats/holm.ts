/**
 * Holm's step-down adjustment of p-values that are tested together, in their order. The chance that any true null
 * hypothesis has an adjusted p-value below α is at most α.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = [...pValues.keys()].sort((i, j) => (pValues[i] ?? 0) - (pValues[j] ?? 0));
  const adjusted = [...pValues];
  let largest = 0;
  for (const [rank, i] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues[i] ?? 0) * (pValues.length - rank)));
    adjusted[i] = largest;
  }
  return adjusted;
}
