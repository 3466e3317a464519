import { present } from '@whetstone/events/present';
import type { Draft } from './draft.ts';
import type { IntroducedNames } from './introduced-names.ts';
import { withoutReferences } from './references.ts';

/** What is left of a text when the traces of its commit are out. */
export type CleanText = {
  text: string;
  /** What a person should look at, in sentences. */
  review: string[];
  /** Why the text gives the answer away. Absent: it does not, as far as can be seen. */
  leak?: string;
};

const TRAILER = /^(?:[A-Z][\w-]*-by|Change-Id|Cc|Refs?|Fixes|Closes|BREAKING CHANGE TO CI):.*$/gim;
const TEMPLATE = /<!--[\s\S]*?-->|^\s*[-*] \[[ xX]\].*$|!\[[^\]]*\]\([^)]*\)|<img[^>]*>/gm;
const CONVENTIONAL = /^(?:feat|fix|refactor|perf|test|chore|docs|build|ci|style)(?:\([^)]*\))?!?: */;

/** Takes out what points to the commit, and says what of its answer is left. `commits`: as for `withoutReferences`. */
export function cleanStatement(
  text: string,
  draft: Pick<Draft, 'goldPatch' | 'sources'>,
  { own }: IntroducedNames,
  commits: ReadonlySet<string>,
): CleanText {
  const without = text.replaceAll('\0', '').replace(/\r\n/g, '\n').replace(TEMPLATE, '').replace(TRAILER, '');
  const { text: free, unsure } = withoutReferences(without, commits);
  const clean = free
    .replace(CONVENTIONAL, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const named = own.filter((name) =>
    new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(clean),
  );
  const { paths, copied } = leaksOf(clean, { ...draft, paths: draft.sources.map(({ path }) => path) });
  const leak = /^(?:diff --git |@@ -\d+|\+\+\+ b\/)/m.test(clean)
    ? 'it has a patch'
    : copied.length > 1
      ? `it has ${copied.length} lines of the answer`
      : undefined;
  return {
    text: clean,
    review: [
      ...unsure,
      ...named.map((name) => `names ${name}, which only the answer introduces`),
      ...paths.map((path) => `names ${path}, which the answer changes`),
      ...copied.map((line) => `has a line of the answer: ${line}`),
    ],
    ...present({ leak }),
  };
}

/**
 * What a text gives away: the paths in it, and lines of the patch that are long enough not to be there by chance.
 * `goldPatch`: bytes as a latin1 string.
 */
export function leaksOf(
  text: string,
  { goldPatch, paths }: { goldPatch: string; paths: readonly string[] },
): { paths: string[]; copied: string[] } {
  const patch = Buffer.from(goldPatch, 'latin1').toString();
  const lines = new Set(text.split('\n').map((line) => line.trim()));
  const added = patch.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
  const copied = [...new Set(added.map((line) => line.slice(1).trim()))].filter(
    (line) => line.length >= 20 && lines.has(line),
  );
  return { paths: paths.filter((path) => text.includes(path)), copied };
}
