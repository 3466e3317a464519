import { createContext, Script } from 'node:vm';
import { messageOf } from '@whetstone/errors';
import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { linesOf, looksBinary } from '../files/text-file.ts';
import {
  fileFilter,
  limitHits,
  patternInvalid,
  type SearchHit,
  type SearchQuery,
  type SearchResult,
} from './text-search.ts';
import { walkFiles } from './walk-files.ts';

/** Files searched in one go: starting the interruptible search has a price. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** A larger file is data, not source. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** For one batch. A pattern that backtracks forever must not block the host. */
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
    for (const [index, file] of batch.entries()) hits.push(...toHits(file, found[index] ?? [], query));
    const limited = limitHits(hits, query);
    if (limited.more) return limited;
  }
  return limitHits(hits, query);
}

type TextFile = { path: string; text: string };

async function* readBatches(
  environment: ExecutionEnvironment,
  root: string,
  query: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<TextFile[], void> {
  const paths = pathsOf(environment);
  const isWanted = fileFilter(query);
  const ignoreFiles = query.noIgnore ? [] : undefined;
  const single = (await environment.stat(root))?.kind === 'file';
  let batch: TextFile[] = [];
  let size = 0;
  const files = single ? [paths.basename(root)] : walkFiles(environment, root, signal, ignoreFiles);
  for await (const path of files) {
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

/** Finds the matching lines of each text, where a time limit can end it: nothing else stops a regular expression. */
function createMatcher(query: SearchQuery): (texts: string[]) => LineMatch[][] {
  const { mode, multiline = false, onlyMatching = false } = query;
  const flags = `${multiline ? 'gmsu' : 'gu'}${query.caseInsensitive ? 'i' : ''}`;
  const source = query.literal ? escapeRegExp(query.pattern) : compiledSource(query.pattern, flags);
  const call = 'files, new RegExp(source, flags), firstOnly, multiline, onlyMatching';
  const script = new Script(`(${findLines.toString()})(${call})`);
  return (texts) => {
    const firstOnly = mode === 'files_with_matches';
    const files = texts.map((text) => ({ text, lines: linesOf(text) }));
    const context = createContext({ files, source, flags, firstOnly, multiline, onlyMatching });
    try {
      return script.runInContext(context, { timeout: BATCH_TIMEOUT_MS }) as LineMatch[][];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw patternInvalid('the pattern takes too long to match. Make it simpler');
    }
  };
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
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
      throw patternInvalid(messageOf(error));
    }
  }
}

/** Runs in a context of its own: it may use nothing but its arguments. A line may match more than once. */
function findLines(
  files: { text: string; lines: string[] }[],
  expression: RegExp,
  firstOnly: boolean,
  multiline: boolean,
  onlyMatching: boolean,
): LineMatch[][] {
  const matchesOf = (text: string) => {
    expression.lastIndex = 0;
    return [...text.matchAll(expression)];
  };
  return files.map(({ text, lines }) => {
    const found: LineMatch[] = [];
    if (!multiline) {
      for (const [index, line] of lines.entries()) {
        expression.lastIndex = 0;
        if (!expression.test(line)) continue;
        if (onlyMatching) {
          for (const [part] of matchesOf(line)) if (part !== '') found.push({ line: index + 1, text: part });
        } else found.push({ line: index + 1, text: line });
        if (firstOnly) break;
      }
      return found;
    }
    let line = 1;
    let position = 0;
    for (const match of matchesOf(text)) {
      if (match[0] === '') continue;
      for (; position < match.index; position += 1) if (text[position] === '\n') line += 1;
      const parts = match[0].replace(/\n$/, '').split('\n');
      for (const [offset, part] of parts.entries()) {
        const number = line + offset;
        if (onlyMatching) found.push({ line: number, text: part });
        else if (found.at(-1)?.line !== number) found.push({ line: number, text: lines[number - 1] ?? '' });
      }
      if (firstOnly) break;
    }
    return found;
  });
}

function toHits({ path, text }: TextFile, all: readonly LineMatch[], query: SearchQuery): SearchHit[] {
  const { mode, maxPerFile = all.length, before = 0, after = 0, onlyMatching } = query;
  const matches = all.slice(0, maxPerFile);
  if (matches.length === 0) return [];
  if (mode === 'files_with_matches') return [{ path }];
  if (mode === 'count') return [{ path, count: new Set(matches.map(({ line }) => line)).size }];
  const hits = matches.map((match): SearchHit => ({ path, ...match }));
  return before + after === 0 || onlyMatching ? hits : withContext(hits, text, before, after);
}

function withContext(hits: readonly SearchHit[], text: string, before: number, after: number): SearchHit[] {
  const lines = linesOf(text);
  const shown = new Map<number, SearchHit>();
  for (const { path, line = 0 } of hits) {
    for (let near = Math.max(1, line - before); near <= Math.min(lines.length, line + after); near += 1) {
      if (!shown.has(near)) shown.set(near, { path, line: near, text: lines[near - 1] ?? '', context: true });
    }
  }
  for (const hit of hits) shown.set(hit.line ?? 0, hit);
  return [...shown.values()].toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
}
