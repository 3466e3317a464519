/** For each line of `after`: the index of the line of `before` that it is, or `undefined` for a new line. */
export function keptLines(before: readonly string[], after: readonly string[]): (number | undefined)[] {
  const kept: (number | undefined)[] = Array.from(after, () => undefined);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) {
    kept[start] = start;
    start += 1;
  }
  let left = before.length;
  let right = after.length;
  while (left > start && right > start && before[left - 1] === after[right - 1]) {
    left -= 1;
    right -= 1;
    kept[right] = left;
  }
  longestCommon(before.slice(start, left), after.slice(start, right), (from, to) => {
    kept[start + to] = start + from;
  });
  return kept;
}

/** Above so many cells the middle counts as new: a table of lines that large costs more than it keeps. */
const MOST_CELLS = 4_000_000;

function longestCommon(
  before: readonly string[],
  after: readonly string[],
  keep: (from: number, to: number) => void,
): void {
  const width = after.length + 1;
  if (before.length === 0 || after.length === 0 || before.length * width > MOST_CELLS) return;
  // lengths[i * width + j]: how many lines before[i..] and after[j..] have in common, in order.
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (from: number, to: number) => lengths[from * width + to] ?? 0;
  for (let from = before.length - 1; from >= 0; from -= 1)
    for (let to = after.length - 1; to >= 0; to -= 1)
      lengths[from * width + to] =
        before[from] === after[to] ? at(from + 1, to + 1) + 1 : Math.max(at(from + 1, to), at(from, to + 1));
  for (let from = 0, to = 0; from < before.length && to < after.length; ) {
    if (before[from] === after[to]) {
      keep(from, to);
      from += 1;
      to += 1;
    } else if (at(from + 1, to) >= at(from, to + 1)) from += 1;
    else to += 1;
  }
}
