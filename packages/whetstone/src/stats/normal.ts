// Coefficients of Acklam's rational approximation: relative error below 1.2e-9.
const CENTRE_ABOVE = [
  -39.696_830_286_653_76, 220.946_098_424_520_5, -275.928_510_446_968_7, 138.357_751_867_269,
  -30.664_798_066_147_16, 2.506_628_277_459_239,
];
const CENTRE_BELOW = [
  -54.476_098_798_224_06, 161.585_836_858_040_9, -155.698_979_859_886_6, 66.801_311_887_719_72,
  -13.280_681_552_885_72, 1,
];
const TAIL_ABOVE = [
  -0.007_784_894_002_430_293, -0.322_396_458_041_136_5, -2.400_758_277_161_838, -2.549_732_539_343_734,
  4.374_664_141_464_968, 2.938_163_982_698_783,
];
const TAIL_BELOW = [
  0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416, 1,
];
const TAIL = 0.024_25;

/**
 * Quantile of the standard normal distribution.
 * @throws RangeError when `probability` is not strictly between 0 and 1.
 */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1))
    throw new RangeError(`probability ${probability} is not within (0, 1)`);
  if (probability > 0.5) return -normalQuantile(1 - probability);
  if (probability < TAIL) {
    const root = Math.sqrt(-2 * Math.log(probability));
    return polynomial(TAIL_ABOVE, root) / polynomial(TAIL_BELOW, root);
  }
  const offset = probability - 0.5;
  const square = offset ** 2;
  return (offset * polynomial(CENTRE_ABOVE, square)) / polynomial(CENTRE_BELOW, square);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((value, coefficient) => value * x + coefficient, 0);
}

/** Distribution function of the standard normal distribution, to 7 digits (Abramowitz and Stegun, 26.2.17). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return x > 0 ? 1 - tail : tail;
}
