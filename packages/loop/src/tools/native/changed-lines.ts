const CONTEXT = 3;

/**
 * The lines from the first to the last change between two texts, as a diff of one piece with some context. What is equal
 * in between is shown as removed and added: the texts are known to differ in one place, or in a few alike.
 */
export function changedLines(before: string, after: string): string {
  const old = before.split(/\r?\n/);
  const current = after.split(/\r?\n/);
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start += 1;
  let same = 0;
  while (same < shorter - start && old.at(-1 - same) === current.at(-1 - same)) same += 1;
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
  return [
    ...mark(' ', old.slice(Math.max(0, start - CONTEXT), start)),
    ...mark('-', old.slice(start, old.length - same)),
    ...mark('+', current.slice(start, current.length - same)),
    ...mark(' ', old.slice(old.length - same, old.length - same + CONTEXT)),
  ].join('\n');
}
