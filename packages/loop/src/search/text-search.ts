import { WhetstoneError } from '@whetstone/errors';
import picomatch from 'picomatch';

/** What a grep asks for. */
export type SearchQuery = {
  pattern: string;
  caseInsensitive: boolean;
  /** Matching lines in all, or files in the modes that list files. */
  maxResults: number;
  mode: SearchMode;
  globFilter?: string;
  /** Only files that fit one of these globs as well. */
  fileGlobs?: readonly string[];
  excludeGlob?: string;
  literal?: boolean;
  /** The pattern may span lines, and `.` matches a line break. */
  multiline?: boolean;
  onlyMatching?: boolean;
  /** Lines of context to show before and after a match, in the mode `content`. */
  before?: number;
  after?: number;
  maxPerFile?: number;
  /** Also what ignore files exclude. */
  noIgnore?: boolean;
};

export type SearchMode = 'content' | 'files_with_matches' | 'count';

/** One line of the answer: `line` and `text` for `content`, `count` for `count`. `path` is relative to the search root. */
export type SearchHit = {
  path: string;
  line?: number;
  text?: string;
  count?: number;
  context?: true;
};

/** A file that was not searched, or whose matches are not shown. */
export type SkippedFile = { path: string; reason: string };

export type SearchResult = {
  hits: SearchHit[];
  more: boolean;
  skipped: SkippedFile[];
};

const MOST_NAMED = 10;

/** One line for the model that names the files of `skipped`; empty where there are none. */
export function skippedNote(skipped: readonly SkippedFile[]): string {
  if (skipped.length === 0) return '';
  const named = skipped.slice(0, MOST_NAMED).map(({ path, reason }) => `${path}: ${reason}`);
  const rest = skipped.length - named.length;
  return `(not shown: ${named.join('; ')}${rest > 0 ? `; and ${rest} more files` : ''})`;
}

/** The pattern does not compile or is too slow. `message` is the engine's. */
export const patternInvalid = (message: string): WhetstoneError =>
  new WhetstoneError('search-pattern-invalid', message);

/** Whether a file, by its path relative to the root, is one that the query wants to see. */
export function fileFilter({ globFilter, fileGlobs, excludeGlob }: SearchQuery): (path: string) => boolean {
  const wanted = globFilter === undefined ? undefined : pathFilter(globFilter);
  const kinds = fileGlobs?.map(pathFilter);
  const excluded = excludeGlob === undefined ? undefined : pathFilter(excludeGlob);
  return (path) =>
    (wanted?.(path) ?? true) && (kinds?.some((fits) => fits(path)) ?? true) && !(excluded?.(path) ?? false);
}

/** A filter without a slash fits the file's name wherever it lies, as in an ignore file. */
function pathFilter(glob: string): (path: string) => boolean {
  return picomatch(glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`, { dot: true });
}

/** The first `maxResults` matches with the context that belongs to them. */
export function limitHits(
  hits: readonly SearchHit[],
  { maxResults, after = 0 }: SearchQuery,
): Omit<SearchResult, 'skipped'> {
  const matches = hits.flatMap((hit, index) => (hit.context ? [] : [index]));
  const end = matches[maxResults - 1];
  const last = end === undefined ? undefined : hits[end];
  if (end === undefined || !last) return { hits: [...hits], more: false };
  // Beyond the last match that is shown, only its own context is.
  const around = hits
    .slice(end + 1, matches[maxResults])
    .filter(({ path, line = 0 }) => path === last.path && line <= (last.line ?? 0) + after);
  return { hits: [...hits.slice(0, end + 1), ...around], more: matches.length > maxResults };
}
