/** A difference and its interval, as fractions (−0.05 for −5 pp). */
export type Drawn = { difference: number; low: number; high: number };

/**
 * A row of characters that draws intervals to scale: `├──●──┤`, and `┊` for no difference. `extent` is the value at both
 * ends of the row; `width` is in characters, at least 11.
 */
export function intervalLine({ difference, low, high }: Drawn, extent: number, width: number): string {
  const columns = Math.max(11, width) | 1;
  const at = (value: number) =>
    Math.round(((Math.min(extent, Math.max(-extent, value)) + extent) / (2 * extent)) * (columns - 1));
  const cells = Array.from({ length: columns }, () => ' ');
  for (let i = at(low); i <= at(high); i += 1) cells[i] = '─';
  cells[at(0)] = cells[at(0)] === ' ' ? '┊' : '┼';
  cells[at(low)] = '├';
  cells[at(high)] = '┤';
  cells[at(difference)] = '●';
  return cells.join('').trimEnd();
}

/** The smallest round extent that holds all the intervals: ±10, 20, 50 or 100 points; for ratios also more. */
export function extentOf(drawn: readonly Drawn[]): number {
  const most = Math.max(0, ...drawn.flatMap(({ low, high }) => [Math.abs(low), Math.abs(high)]));
  return [0.1, 0.2, 0.5, 1, 2, 5].find((extent) => most <= extent) ?? 10;
}
