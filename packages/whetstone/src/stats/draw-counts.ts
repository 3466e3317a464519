/** A draw from Beta(passed + ½, failed + ½), what so many trials leave possible of a rate: a share of two sums of squared normal numbers. */
export function drawRate(passed: number, failed: number, random: () => number): number {
  const squares = (count: number) => {
    let total = 0;
    for (let i = 0; i < count; i += 1) total += drawNormal(random) ** 2;
    return total;
  };
  const [ofPassed, ofFailed] = [squares(2 * passed + 1), squares(2 * failed + 1)];
  return ofPassed / (ofPassed + ofFailed);
}

/** A standard normal number (Box and Muller). */
export const drawNormal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** How many of so many trials pass. */
export function drawPassed(rate: number, trials: number, random: () => number): number {
  let passed = 0;
  for (let i = 0; i < trials; i += 1) if (random() < rate) passed += 1;
  return passed;
}
