import { createContext, Script } from 'node:vm';
import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { looksBinary } from '../tools/text-file.ts';
import {
  pathFilter,
  type SearchHit,
  SearchPatternError,
  type SearchQuery,
  type SearchResult,
} from './text-search.ts';
import { walkFiles } from './walk-files.ts';

/** Files searched in one go: starting the interruptible search has a price. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** A larger file is data, not source. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** For one batch. A pattern that backtracks without end must not hold up the host. */
const BATCH_TIMEOUT_MS = 2_000;

/** Searches with JavaScript's regular expressions, where there is no ripgrep. Files come in the order of their paths. */
export async function searchWithOwnEngine(
  environment: ExecutionEnvironment,
  root: string,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  const matcher = createMatcher(query);
  const hits: SearchHit[] = [];
  for await (const batch of readBatches(environment, root, query, signal)) {
    const found = matcher(batch.map((file) => file.text));
    for (const [index, file] of batch.entries()) hits.push(...toHits(file.path, found[index] ?? [], query));
    if (hits.length > query.maxResults) return { hits: hits.slice(0, query.maxResults), more: true };
  }
  return { hits, more: false };
}

type TextFile = { path: string; text: string };

async function* readBatches(
  environment: ExecutionEnvironment,
  root: string,
  { globFilter }: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<TextFile[], void> {
  const paths = pathsOf(environment);
  const isWanted = globFilter === undefined ? () => true : pathFilter(globFilter);
  const single = (await environment.stat(root))?.kind === 'file';
  let batch: TextFile[] = [];
  let size = 0;
  for await (const path of single ? [paths.basename(root)] : walkFiles(environment, root, signal)) {
    if (!isWanted(path)) continue;
    const text = await readText(environment, single ? root : paths.join(root, path));
    if (text === undefined) continue;
    batch.push({ path, text });
    size += text.length;
    if (size < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  yield batch;
}

async function readText(environment: ExecutionEnvironment, path: string): Promise<string | undefined> {
  try {
    const size = (await environment.stat(path))?.size ?? 0;
    if (size === 0 || size > MAX_FILE_BYTES) return undefined;
    const bytes = await environment.readBytes(path);
    return looksBinary(bytes) ? undefined : new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}

type LineMatch = { line: number; text: string };

/**
 * Finds the matching lines of each text. It runs where a time limit can end it, which is the only way to stop a regular
 * expression from outside.
 */
function createMatcher({ pattern, caseInsensitive, mode }: SearchQuery): (texts: string[]) => LineMatch[][] {
  const flags = `u${caseInsensitive ? 'i' : ''}`;
  const source = compiledSource(pattern, flags);
  const script = new Script(`(${findLines.toString()})(texts, new RegExp(source, flags), firstOnly)`);
  return (texts) => {
    const context = createContext({ texts, source, flags, firstOnly: mode === 'files_with_matches' });
    try {
      return script.runInContext(context, { timeout: BATCH_TIMEOUT_MS }) as LineMatch[][];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw new SearchPatternError('the pattern takes too long to match; make it simpler');
    }
  };
}

/** The `u` flag is stricter than other engines about needless escapes, such as `\-`. */
function compiledSource(pattern: string, flags: string): string {
  try {
    return new RegExp(pattern, flags).source;
  } catch {
    const relaxed = pattern.replaceAll(/\\([^\w\s\\^$.*+?()[\]{}|/])/g, '$1');
    try {
      return new RegExp(relaxed, flags).source;
    } catch (error) {
      throw new SearchPatternError((error as Error).message);
    }
  }
}

/** Runs in a context of its own: it may use nothing but its arguments. */
function findLines(texts: string[], expression: RegExp, firstOnly: boolean): LineMatch[][] {
  return texts.map((text) => {
    const found: LineMatch[] = [];
    let number = 0;
    for (let start = 0; start < text.length; ) {
      const next = text.indexOf('\n', start);
      const end = next < 0 ? text.length : next;
      const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
      number += 1;
      if (expression.test(line)) found.push({ line: number, text: line });
      if (firstOnly && found.length > 0) break;
      start = end + 1;
    }
    return found;
  });
}

function toHits(path: string, matches: readonly LineMatch[], { mode }: SearchQuery): SearchHit[] {
  if (matches.length === 0) return [];
  if (mode === 'files_with_matches') return [{ path }];
  if (mode === 'count') return [{ path, count: matches.length }];
  return matches.map(({ line, text }) => ({ path, line, text }));
}
