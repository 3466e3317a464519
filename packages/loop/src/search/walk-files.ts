import type { Ignore } from 'ignore';
import { pathsOf } from '../environment/environment-path.ts';
import type { DirectoryEntry, ExecutionEnvironment } from '../environment/execution-environment.ts';
import { findGitRoot } from '../files/file-access.ts';

/** Files in which a folder says what to leave out; later ones win. */
const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore'];

/** Entries that one walk looks at, so that a call on the root of a disk comes to an end. */
const MAX_ENTRIES = 500_000;

/** A folder's rules, for paths relative to it. */
type Rules = { folder: string; matcher: Ignore };

/**
 * The regular files below a folder, as relative paths with `/`, sorted by name in each folder. `.git`, symbolic links and
 * what the ignore files (`ignoreFiles`, later ones win) from the git root down exclude are left out.
 */
export async function* walkFiles(
  environment: ExecutionEnvironment,
  root: string,
  signal: AbortSignal,
  ignoreFiles = IGNORE_FILES,
): AsyncGenerator<string, void> {
  for await (const { path, isDirectory } of walkEntries(environment, root, { signal, ignoreFiles })) {
    if (!isDirectory) yield path;
  }
}

export type WalkedEntry = { path: string; isDirectory: boolean };

/** As `walkFiles`, with the folders, each before its entries, and at most `depth` levels deep. */
export async function* walkEntries(
  environment: ExecutionEnvironment,
  root: string,
  options: { signal: AbortSignal; ignoreFiles?: readonly string[]; depth?: number },
): AsyncGenerator<WalkedEntry, void> {
  const { signal, ignoreFiles = IGNORE_FILES, depth = Number.POSITIVE_INFINITY } = options;
  const state = { environment, root, ignoreFiles, signal, left: MAX_ENTRIES };
  yield* walk(state, '', await rulesAbove(state), depth);
}

type Walk = {
  environment: ExecutionEnvironment;
  root: string;
  ignoreFiles: readonly string[];
  signal: AbortSignal;
  /** Entries that may still be looked at. */
  left: number;
};

async function* walk(
  state: Walk,
  relative: string,
  above: readonly Rules[],
  depth: number,
): AsyncGenerator<WalkedEntry, void> {
  const { environment, root, signal } = state;
  signal.throwIfAborted();
  const paths = pathsOf(environment);
  const folder = paths.join(root, relative);
  const entries = await entriesOf(state, folder);
  const rules = await withRulesOf(state, folder, entries, above);
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    state.left -= 1;
    if (state.left < 0) return;
    const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
    const isDirectory = entry.kind === 'directory';
    if ((entry.kind !== 'file' && !isDirectory) || entry.name === '.git') continue;
    if (isIgnored(environment, paths.join(root, path), isDirectory, rules)) continue;
    yield { path, isDirectory };
    if (isDirectory && depth > 1) yield* walk(state, path, rules, depth - 1);
  }
}

/** A folder that cannot be read has nothing to find. */
async function entriesOf({ environment }: Walk, folder: string): Promise<DirectoryEntry[]> {
  return await environment.listDirectory(folder).catch(() => []);
}

async function rulesAbove(state: Walk): Promise<readonly Rules[]> {
  const { environment, root } = state;
  const paths = pathsOf(environment);
  const gitRoot = await findGitRoot(environment, root);
  const folders: string[] = [];
  for (let folder = root; gitRoot !== undefined && folder !== gitRoot; ) {
    folder = paths.dirname(folder);
    folders.unshift(folder);
  }
  let rules: readonly Rules[] = [];
  for (const folder of folders)
    rules = await withRulesOf(state, folder, await entriesOf(state, folder), rules);
  return rules;
}

async function withRulesOf(
  { environment, ignoreFiles }: Walk,
  folder: string,
  entries: readonly DirectoryEntry[],
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const paths = pathsOf(environment);
  let rules = above;
  for (const name of ignoreFiles) {
    if (!entries.some((entry) => entry.name === name && entry.kind === 'file')) continue;
    const content = await environment.readBytes(paths.join(folder, name)).catch(() => undefined);
    if (!content) continue;
    const { default: ignore } = await import('ignore');
    rules = [...rules, { folder, matcher: ignore().add(new TextDecoder().decode(content)) }];
  }
  return rules;
}

/** The innermost file that has something to say about the path decides. */
function isIgnored(
  environment: ExecutionEnvironment,
  path: string,
  isDirectory: boolean,
  rules: readonly Rules[],
): boolean {
  const paths = pathsOf(environment);
  for (const { folder, matcher } of rules.toReversed()) {
    const relative = paths.relative(folder, path).replaceAll('\\', '/');
    const { ignored, unignored } = matcher.test(isDirectory ? `${relative}/` : relative);
    if (ignored || unignored) return ignored;
  }
  return false;
}
