import ignore, { type Ignore } from 'ignore';
import { findGitRoot } from '../context/git-root.ts';
import { pathsOf } from '../environment/environment-path.ts';
import type { DirectoryEntry, ExecutionEnvironment } from '../environment/execution-environment.ts';

/** Files in which a folder says what to leave out; later ones win. */
const IGNORE_FILES = ['.gitignore', '.ignore'];

/** Entries that one walk looks at, so that a call on the root of a disk comes to an end. */
const MAX_ENTRIES = 500_000;

/** A folder's rules, for paths relative to it. */
type Rules = { folder: string; matcher: Ignore };

/**
 * The regular files below a folder as paths relative to it, `/` between the parts, each
 * folder's entries sorted by name. Left out are `.git`, what the
 * ignore files from the git root down say, and what lies behind symbolic links. Other hidden files are included.
 */
export async function* walkFiles(
  environment: ExecutionEnvironment,
  root: string,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const budget = { left: MAX_ENTRIES };
  yield* walk(environment, root, '', await rulesAbove(environment, root), budget, signal);
}

async function* walk(
  environment: ExecutionEnvironment,
  root: string,
  relative: string,
  above: readonly Rules[],
  budget: { left: number },
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  signal.throwIfAborted();
  const paths = pathsOf(environment);
  const folder = paths.join(root, relative);
  // A folder that cannot be read has nothing to find.
  const entries = await environment.listDirectory(folder).catch((): DirectoryEntry[] => []);
  const rules = await withRulesOf(environment, folder, entries, above);
  for (const entry of entries.toSorted(byName)) {
    budget.left -= 1;
    if (budget.left < 0) return;
    const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
    const isDirectory = entry.kind === 'directory';
    if ((entry.kind !== 'file' && !isDirectory) || entry.name === '.git') continue;
    if (isIgnored(environment, paths.join(root, path), isDirectory, rules)) continue;
    if (isDirectory) yield* walk(environment, root, path, rules, budget, signal);
    else yield path;
  }
}

function byName(left: DirectoryEntry, right: DirectoryEntry): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

async function rulesAbove(environment: ExecutionEnvironment, root: string): Promise<Rules[]> {
  const paths = pathsOf(environment);
  const gitRoot = await findGitRoot(environment, root);
  const folders: string[] = [];
  for (let folder = root; gitRoot !== undefined && folder !== gitRoot; ) {
    folder = paths.dirname(folder);
    folders.unshift(folder);
  }
  let rules: readonly Rules[] = [];
  for (const folder of folders) {
    const entries = await environment.listDirectory(folder).catch((): DirectoryEntry[] => []);
    rules = await withRulesOf(environment, folder, entries, rules);
  }
  return [...rules];
}

async function withRulesOf(
  environment: ExecutionEnvironment,
  folder: string,
  entries: readonly DirectoryEntry[],
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const paths = pathsOf(environment);
  const present = IGNORE_FILES.filter((name) =>
    entries.some((entry) => entry.name === name && entry.kind === 'file'),
  );
  let rules = above;
  for (const name of present) {
    const content = await environment.readBytes(paths.join(folder, name)).catch(() => undefined);
    if (content) rules = [...rules, { folder, matcher: ignore().add(new TextDecoder().decode(content)) }];
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
