import type { SolvedSource } from '../solved-tree.ts';

/** A text in place of a part of a source, in UTF-16 units of its text. */
export type Edit = { from: number; to: number; text: string };

/** A solution that was changed in one place, for one task. */
export type ChangedSolution = {
  /** The kind of the change, such as `operator`. */
  kind: string;
  /** The change in words, with its place. */
  what: string;
  /** The new texts of files, by path. */
  files: ReadonlyMap<string, string>;
};

export const edited = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((now, { from, to, text: instead }) => now.slice(0, from) + instead + now.slice(to), text);

/** `src/a.js:3: `a + b` → `a - b``. */
export function describeEdit({ path, text }: Pick<SolvedSource, 'path' | 'text'>, edit: Edit): string {
  const line = text.slice(0, edit.from).split('\n').length;
  const before = brief(text.slice(edit.from, edit.to));
  return `${path}:${line}: ${before === '' ? 'adds' : `\`${before}\` →`} \`${brief(edit.text)}\``;
}

const brief = (text: string): string => {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
};
