/** A text as a pattern that matches only it. `RegExp.escape` is not in every Node that Whetstone runs on. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
