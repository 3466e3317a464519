/** A text from somebody else, cut to a length that is safe to keep. */
export const bounded = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;

/** Names from somebody else, as few and as short as is safe to keep. */
export const boundedNames = (names: readonly string[]): string[] =>
  names.slice(0, 500).map((name) => bounded(name, 100));
