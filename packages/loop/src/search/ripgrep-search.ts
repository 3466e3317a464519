import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import {
  fileFilter,
  limitHits,
  patternInvalid,
  type SearchHit,
  type SearchQuery,
  type SearchResult,
} from './text-search.ts';

const TIMEOUT_MS = 60_000;

const available = new WeakMap<ExecutionEnvironment, Promise<boolean>>();

/** Whether the environment has ripgrep; asked once for each environment. */
export function hasRipgrep(environment: ExecutionEnvironment): Promise<boolean> {
  const known = available.get(environment);
  if (known) return known;
  const asked = environment.exec(['rg', '--version'], { timeoutMs: 5_000 }).then(
    (result) => result.exitCode === 0,
    () => false,
  );
  available.set(environment, asked);
  return asked;
}

/** Searches with ripgrep, set up to see the same files in the same order as our own engine. */
export async function searchWithRipgrep(
  environment: ExecutionEnvironment,
  root: string,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  const single = (await environment.stat(root))?.kind === 'file';
  const paths = pathsOf(environment);
  const workingDirectory = single ? paths.dirname(root) : root;
  const target = single ? `./${paths.basename(root)}` : './';
  const command = ['rg', ...COMMON, ...argumentsOf(query), '--regexp', query.pattern, '--', target];
  const result = await environment.exec(command, { workingDirectory, signal, timeoutMs: TIMEOUT_MS });
  if (result.aborted) signal.throwIfAborted();
  if (result.timedOut)
    throw new Error(`the search took longer than ${TIMEOUT_MS / 1000} s. Narrow the path or the pattern.`);
  const complaint = result.stderr.trim();
  // 1: nothing found. 2: an error, which may only concern single files.
  if (result.exitCode === 2 && result.stdout === '' && /regex|glob/.test(complaint))
    throw patternInvalid(complaint);
  const keep = fileFilter(query);
  const hits = result.stdout
    .split('\n')
    .flatMap((row) => parseRow(row, query))
    .filter((hit) => keep(hit.path));
  const limited = limitHits(hits, query);
  return { ...limited, more: limited.more || result.droppedBytes > 0 };
}

const COMMON = [
  ...['--no-config', '--no-messages', '--color=never', '--no-heading', '--with-filename', '--null'],
  ...[
    '--sort=path',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-exclude',
    '--glob=!.git',
  ],
];

function argumentsOf(query: SearchQuery): string[] {
  const { mode, globFilter, maxPerFile = Number.POSITIVE_INFINITY } = query;
  // One more than asked for shows whether there is more.
  const limit = Math.min(maxPerFile, query.maxResults + 1);
  const context = [`--before-context=${query.before ?? 0}`, `--after-context=${query.after ?? 0}`];
  const output = {
    content: [
      '--line-number',
      `--max-count=${limit}`,
      ...context,
      ...flag(query.onlyMatching, '--only-matching'),
    ],
    files_with_matches: ['--files-with-matches'],
    count: ['--count', ...flag(query.maxPerFile !== undefined, `--max-count=${maxPerFile}`)],
  }[mode];
  return [
    ...output,
    query.caseInsensitive ? '--ignore-case' : '--case-sensitive',
    ...flag(query.literal, '--fixed-strings'),
    ...flag(query.multiline, '--multiline', '--multiline-dotall'),
    ...flag(query.noIgnore, '--no-ignore'),
    // A type, not `--glob`, which would bring ignored files back. Types see names only; `keep` does the rest.
    ...flag(globFilter?.includes('/') === false, `--type-add=wanted:${globFilter}`, '--type=wanted'),
  ];
}

function flag(isSet: boolean | undefined, ...flags: string[]): string[] {
  return isSet ? flags : [];
}

/** `path NUL rest`; with `--files-with-matches` several paths may share a row. */
function parseRow(row: string, { mode }: SearchQuery): SearchHit[] {
  if (mode === 'files_with_matches') {
    return row.split('\0').flatMap((path) => (path === '' ? [] : [{ path: relative(path) }]));
  }
  const split = row.indexOf('\0');
  if (split < 0) return [];
  const path = relative(row.slice(0, split));
  const rest = row.slice(split + 1);
  if (mode === 'count') return [{ path, count: Number(rest) }];
  const [, line, separator, text] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
  if (line === undefined || text === undefined) return [];
  const hit = { path, line: Number(line), text: text.endsWith('\r') ? text.slice(0, -1) : text };
  return [separator === '-' ? { ...hit, context: true } : hit];
}

function relative(path: string): string {
  return path.replace(/^\.[\\/]/, '').replaceAll('\\', '/');
}
