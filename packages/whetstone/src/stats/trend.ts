import { normalCdf } from './normal.ts';

/** What happened to one stratum, in the order of time. */
export type Ordered = readonly number[];

export type Trend = {
  /** The mean change from the first to the last value of a stratum. */
  change: number;
  /** Two-sided; `null` where every stratum has the same value throughout. */
  pValue: number | null;
};

/**
 * Whether values depend on their order: Σ (place − mean place)(value − mean value) over all strata, against all ways to
 * reorder each of them, by the normal distribution with the exact variance of that (a stratified linear permutation test; Wald
 * and Wolfowitz, 1944). `null` with fewer than 8 values in strata of two or more.
 */
export function trend(strata: readonly Ordered[]): Trend | null {
  const known = strata.filter(({ length }) => length > 1);
  if (known.flat().length < 8) return null;
  let covariance = 0;
  let places = 0;
  let variance = 0;
  let weightedSpan = 0;
  for (const values of known) {
    const middle = (values.length - 1) / 2;
    const mean = values.reduce((total, one) => total + one, 0) / values.length;
    const ofPlaces = values.reduce((total, _, place) => total + (place - middle) ** 2, 0);
    const ofValues = values.reduce((total, one) => total + (one - mean) ** 2, 0);
    covariance += values.reduce((total, one, place) => total + (place - middle) * (one - mean), 0);
    places += ofPlaces;
    variance += (ofPlaces * ofValues) / (values.length - 1);
    weightedSpan += ofPlaces * (values.length - 1);
  }
  return {
    change: (covariance / places) * (weightedSpan / places),
    pValue:
      variance === 0 ? null : Math.min(1, 2 * (1 - normalCdf(Math.abs(covariance) / Math.sqrt(variance)))),
  };
}
