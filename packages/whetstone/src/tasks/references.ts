import { git } from '../workspace/git.ts';
import { openRepository } from '../workspace/repository.ts';

/** A text without the references to issues and commits that are certain. `unsure`: what may be one and was left, in sentences. */
export type WithoutReferences = { text: string; unsure: string[] };

const ISSUE_URL = /https?:\/\/\S+\/(?:issues|pull|commit|compare|merge_requests)\/\S+/g;
/** `Fixes #1, #2`, `(#1)`, `owner/name#1`; neither `&#123;` nor `page#123`. */
const ISSUE =
  /\(?((?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see)[: ]+)?)((?<![\w./:-])[\w.-]+\/[\w.-]+|(?<![\w&/]))#(\d+)(?![\w-])\)?(?:,? and #\d+(?![\w-]))*/gi;
const SAID_TO_BE_ISSUE = /\b(?:issues?|bug|ticket|pr|pull request)[: ]+$/i;
const HEX_WORD = /(?<![\w#-]|[\da-f]{4}-)[\da-f]{7,40}(?![\w-])/g;
const SAID_TO_BE_COMMIT = /\b(?:commit|revision|sha)[: ]+[`"'(]?$/i;

/** CSS colours have 3, 4, 6 or 8 digits. */
const COLOUR_LENGTHS = [3, 4, 6, 8];
const COLOUR_WORD = /colou?r|background|border|fill|stroke|shadow|outline|gradient|theme|\bcss\b|\bhex\b/i;
const COLOUR_WITH_LETTERS = /#(?=[\da-f]*[a-f])(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})\b/i;
/** What stands before the value of a property that is a colour. */
const COLOUR_PROPERTY =
  /(?:colou?r|background|border|fill|stroke|shadow|outline)[\w-]*["'`]?\s*[:=][^\n;]*$/i;

/** Takes out references to issues and commits. `commits`: the ids among its words that the repository knows. */
export function withoutReferences(text: string, commits: ReadonlySet<string>): WithoutReferences {
  const unsure = new Set<string>();
  const withoutIssues = text
    .replace(ISSUE_URL, '')
    .replace(ISSUE, (match, keyword: string, repository: string, digits: string, at: number, all: string) => {
      const kind =
        keyword === '' && repository === '' && COLOUR_LENGTHS.includes(digits.length)
          ? kindOf(lineAt(all, at + match.indexOf('#')))
          : 'issue';
      if (kind === 'unsure') unsure.add(`has #${digits}, which may be the number of an issue or a colour`);
      return kind === 'issue' ? '' : match;
    });
  const clean = withoutIssues.replace(HEX_WORD, (word, at: number) => {
    if (commits.has(word) || SAID_TO_BE_COMMIT.test(withoutIssues.slice(0, at))) return '';
    if (looksLikeCommit(word)) unsure.add(`has ${word}, which may be a commit id`);
    return word;
  });
  return { text: clean, unsure: [...unsure] };
}

/** What stands before and after a place in its line. */
function lineAt(text: string, place: number): { before: string; after: string } {
  const end = text.indexOf('\n', place);
  return {
    before: text.slice(text.lastIndexOf('\n', place) + 1, place),
    after: text.slice(place, end === -1 ? undefined : end),
  };
}

/** Whether the digits after a `#` are a colour, by what stands around them. */
function kindOf({ before, after }: { before: string; after: string }): 'issue' | 'colour' | 'unsure' {
  if (COLOUR_PROPERTY.test(before)) return 'colour';
  if (SAID_TO_BE_ISSUE.test(before)) return 'issue';
  const line = before + after;
  const mayBeColour = /["'`]$/.test(before) || COLOUR_WORD.test(line) || COLOUR_WITH_LETTERS.test(line);
  return mayBeColour ? 'unsure' : 'issue';
}

/** Neither a word nor a number. */
const looksLikeCommit = (word: string): boolean => /\d/.test(word) && /[a-f]/.test(word);

/** Words of a text that look like ids of commits. */
export const possibleCommits = (text: string): string[] => [
  ...new Set((text.match(HEX_WORD) ?? []).filter(looksLikeCommit)),
];

/** The words of texts that name an object of the repository. */
export async function commitsNamed(repo: string, texts: readonly string[]): Promise<Set<string>> {
  const words = [...new Set(texts.flatMap((text) => text.match(HEX_WORD) ?? []))];
  if (words.length === 0) return new Set();
  const { gitDir } = await openRepository(repo);
  const found = await git(['cat-file', '--batch-check=%(objecttype)'], { gitDir, input: words.join('\n') });
  const types = found.toString().split('\n');
  // Not found: `WORD missing`. A beginning that several objects have: `WORD ambiguous`.
  return new Set(words.filter((_, index) => !(types[index] ?? '').endsWith('missing')));
}
