/** A text from somebody else, cut to a length that is safe to keep. */
export const bounded = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
