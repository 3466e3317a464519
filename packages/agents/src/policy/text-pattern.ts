/** Stands for a part of a text that is not known, because a shell would replace it. */
export const UNKNOWN = '\0';

/** Whether a text fits a pattern, in which `*` stands for any text. */
export const fits = (pattern: string, text: string): boolean =>
  overlap(pattern, text, (char) => char === '*');

/** Whether a text may fit a pattern, whatever its unknown parts are. */
export const mayFit = (pattern: string, text: string): boolean =>
  overlap(
    pattern,
    text,
    (char) => char === '*',
    (char) => char === UNKNOWN,
  );

/** Whether two patterns have a text in common; each says which of its characters stand for any text. */
function overlap(
  left: string,
  right: string,
  isAnyLeft: (char: string) => boolean,
  isAnyRight: (char: string) => boolean = () => false,
): boolean {
  // Row by row: whether the first `row` characters of `left` can be the first `column` of `right`.
  let reached = [true];
  for (let column = 1; column <= right.length; column++)
    reached[column] = reached[column - 1] === true && isAnyRight(right.charAt(column - 1));
  for (let row = 1; row <= left.length; row++) {
    const isAny = isAnyLeft(left.charAt(row - 1));
    const next = [reached[0] === true && isAny];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left.charAt(row - 1) === right.charAt(column - 1);
      const above = reached[column] === true;
      const before = next[column - 1] === true;
      const isOpen = isAny || isAnyRight(right.charAt(column - 1));
      next[column] = isOpen ? above || before : isSame && reached[column - 1] === true;
    }
    reached = next;
  }
  return reached[right.length] === true;
}
