export type ClusteredMean = {
  mean: number;
  /** `null` with one cluster, because the spread between clusters is then unknown. */
  standardError: number | null;
  /** Number of clusters − 1. */
  degreesOfFreedom: number;
};

/**
 * Mean of `values`, with a standard error that treats values of one cluster as dependent: SE² = C/(C−1) · (1/n²) ·
 * Σ_c (Σ_{i∈c} (y_i − ȳ))² (Miller, arXiv 2411.00640, with the finite-cluster factor). Without `clusters` each value is
 * its own cluster, and the standard error is sd/√n.
 * @throws RangeError when there are no values, or `clusters` has another length.
 */
export function clusteredMean(
  values: readonly number[],
  clusters: readonly (string | number)[] = [...values.keys()],
): ClusteredMean {
  if (values.length === 0) throw new RangeError('no values to take a mean of');
  if (clusters.length !== values.length) {
    throw new RangeError(`${values.length} values in ${clusters.length} clusters: each value needs one`);
  }
  const mean = sum(values) / values.length;
  const deviations = new Map<string | number, number>();
  for (const [i, cluster] of clusters.entries()) {
    deviations.set(cluster, (deviations.get(cluster) ?? 0) + ((values[i] ?? 0) - mean));
  }
  const count = deviations.size;
  if (count === 1) return { mean, standardError: null, degreesOfFreedom: 0 };
  const squares = sum([...deviations.values()].map((deviation) => deviation ** 2));
  const standardError = Math.sqrt(((count / (count - 1)) * squares) / values.length ** 2);
  return { mean, standardError: standardError < 1e-12 ? 0 : standardError, degreesOfFreedom: count - 1 };
}

/** Sorts first, so that rounding does not depend on the order of tasks. */
function sum(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b).reduce((total, value) => total + value, 0);
}
