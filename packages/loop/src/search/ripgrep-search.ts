import { WhetstoneError } from '@whetstone/errors';
import { pathsOf } from '../environment/environment-path.ts';
import type { ExecResult, ExecutionEnvironment } from '../environment/execution-environment.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { searchCommand } from '../environment/search-command.ts';
import { refuseSpecial } from '../files/file-access.ts';
import { mirrorFiles } from './mirror-files.ts';
import { parseContent, parseCounts, parsePaths, parseSkipped } from './ripgrep-output.ts';
import {
  fileFilter,
  limitHits,
  patternInvalid,
  type SearchQuery,
  type SearchResult,
  type SkippedFile,
} from './text-search.ts';

const TIMEOUT_MS = 60_000;

/**
 * Searches with the ripgrep that comes with this package, so that every environment gives the same results. It runs in
 * the environment where that can start it; else the files are read through the environment and searched on this machine.
 */
export async function searchFiles(
  environment: ExecutionEnvironment,
  root: string,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  const found = await environment.stat(root);
  if (found?.kind !== 'directory' && found) refuseSpecial(found, root);
  const paths = pathsOf(environment);
  const isSingle = found?.kind === 'file';
  const place = {
    environment,
    folder: isSingle ? paths.dirname(root) : root,
    target: isSingle ? `./${paths.basename(root)}` : './',
  };
  const program = await programIn(environment);
  if (program !== undefined) return await searchIn({ ...place, program }, query, signal);
  await using mirror = await mirrorFiles(environment, root, isSingle, query, signal);
  await using local = new LocalExecutionEnvironment({ workingDirectory: mirror.folder });
  const there = { environment: local, folder: mirror.folder, target: place.target };
  const result = await searchIn(
    { ...there, program: await programHere() },
    { ...query, noIgnore: true },
    signal,
  );
  return { ...result, skipped: [...mirror.skipped, ...result.skipped] };
}

type SearchTarget = { environment: ExecutionEnvironment; program: string; folder: string; target: string };

async function searchIn(place: SearchTarget, query: SearchQuery, signal: AbortSignal): Promise<SearchResult> {
  const output = {
    content: ['--json'],
    files_with_matches: ['--files-with-matches', '--null'],
    count: ['--count', '--null', '--with-filename'],
  }[query.mode];
  // The second search finds the binary files that the first leaves out without a word.
  const everything = ['--files-with-matches', '--null', '--binary', '--no-messages'];
  const [result, all] = await Promise.all([
    run(place, [...output, ...argumentsOf(query)], query.pattern, signal),
    run(
      place,
      [...everything, ...argumentsOf({ ...query, mode: 'files_with_matches' })],
      query.pattern,
      signal,
    ),
  ]);
  const complaint = result.stderr.trim();
  // 1: nothing found. 2: an error, which may only concern single files.
  if (result.exitCode === 2 && result.stdout === '' && /regex|PCRE2|glob/i.test(complaint))
    throw patternInvalid(complaint);
  const keep = fileFilter(query);
  // What comes after the gap of a bounded output would be shown as if nothing was missing.
  const isCut = result.droppedBytes > 0;
  const stdout = isCut
    ? result.stdout.slice(0, result.stdout.search(/\n\[\d+ bytes left out\]\n/) + 1)
    : result.stdout;
  const parsed = { content: parseContent, files_with_matches: parsePaths, count: parseCounts }[query.mode](
    stdout,
    query,
  );
  const limited = limitHits(
    parsed.filter((hit) => keep(hit.path)),
    query,
  );
  const more = limited.more || isCut;
  const shown = new Set(parsed.map((hit) => hit.path));
  const binary = more
    ? []
    : parsePaths(all.stdout).flatMap(({ path }): SkippedFile[] =>
        shown.has(path) || !keep(path) ? [] : [{ path, reason: 'a binary file that matches' }],
      );
  return { ...limited, more, skipped: [...parseSkipped(complaint), ...binary] };
}

async function run(
  { environment, program, folder, target }: SearchTarget,
  args: readonly string[],
  pattern: string,
  signal: AbortSignal,
): Promise<ExecResult> {
  const command = searchCommand([program, ...COMMON, ...args, '--regexp', pattern, '--', target]);
  const result = await environment.exec(command, { workingDirectory: folder, signal, timeoutMs: TIMEOUT_MS });
  if (result.aborted) signal.throwIfAborted();
  if (result.timedOut)
    throw new Error(`the search took longer than ${TIMEOUT_MS / 1000} s. Narrow the path or the pattern.`);
  return result;
}

const COMMON = [
  // PCRE2 does what the default engine cannot: look-behind and back-references.
  ...[
    '--no-config',
    '--color=never',
    '--crlf',
    '--engine=auto',
    '--sort=path',
    '--hidden',
    '--no-require-git',
  ],
  ...['--no-ignore-global', '--no-ignore-exclude', '--glob=!.git'],
];

function argumentsOf(query: SearchQuery): string[] {
  const { mode, globFilter, maxPerFile } = query;
  // One more than asked for shows whether there is more.
  const limit = Math.min(maxPerFile ?? Number.POSITIVE_INFINITY, query.maxResults + 1);
  const context = [`--before-context=${query.before ?? 0}`, `--after-context=${query.after ?? 0}`];
  return [
    ...(mode === 'content' ? [`--max-count=${limit}`, ...flag(!query.onlyMatching, ...context)] : []),
    ...flag(mode === 'count' && maxPerFile !== undefined, `--max-count=${maxPerFile}`),
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

const programs = new WeakMap<ExecutionEnvironment, Promise<string | undefined>>();

/** The program's path where the environment can start it; asked once for each environment. */
function programIn(environment: ExecutionEnvironment): Promise<string | undefined> {
  const known = programs.get(environment);
  if (known) return known;
  const asked = findProgram().then(async (program) => {
    if (program === undefined) return undefined;
    const version = environment.exec(searchCommand([program, '--version']), { timeoutMs: 5_000 });
    return (await version.catch(() => undefined))?.exitCode === 0 ? program : undefined;
  });
  programs.set(environment, asked);
  return asked;
}

async function findProgram(): Promise<string | undefined> {
  return await import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
}

async function programHere(): Promise<string> {
  const program = await findProgram();
  if (program !== undefined) return program;
  const message = 'The search program that comes with the loop is not installed.';
  throw new WhetstoneError('search-program-missing', message);
}
