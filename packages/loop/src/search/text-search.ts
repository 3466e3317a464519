import picomatch from 'picomatch';

/** What a grep asks for. */
export type SearchQuery = {
  pattern: string;
  caseInsensitive: boolean;
  /** Only files whose path or name fits this glob. */
  globFilter?: string;
  /** Lines in all, or files in the modes that list files. */
  maxResults: number;
  mode: SearchMode;
};

export type SearchMode = 'content' | 'files_with_matches' | 'count';

/** One line of the answer: `line` and `text` for `content`, `count` for `count`. `path` is relative to the search root. */
export type SearchHit = { path: string; line?: number; text?: string; count?: number };

export type SearchResult = {
  hits: SearchHit[];
  /** There is more than `maxResults`. */
  more: boolean;
};

/** The pattern does not compile, in the words of the engine. */
export class SearchPatternError extends Error {
  override readonly name = 'SearchPatternError';
}

/** A filter without a slash fits the file's name wherever it lies, as in an ignore file. */
export function pathFilter(glob: string): (path: string) => boolean {
  const matches = picomatch(glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`, { dot: true });
  return (path) => matches(path);
}
