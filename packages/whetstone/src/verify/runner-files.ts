import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import type { TaskConfig } from '../config/config.ts';
import { changeableIn, isProtectedByDefault } from '../config/default-protected-paths.ts';
import { displayPath } from '../workspace/tree-path.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { moduleFile, namedFiles } from './named-files.ts';
import { readInTree } from './read-in-tree.ts';

/** Files in which only a part is about test runners. */
const MIXED = /(^|\/)(package\.json|pyproject\.toml|setup\.cfg|tox\.ini)$/;
const SETTINGS = /\.([cm]?[jt]s|json|ya?ml|ini|toml|py)$|(^|\/)\.(mocharc|babelrc|taprc|swcrc)$/;
/** More are not read: a tree with so many has them as fixtures. */
const MOST_FILES = 500;

/** Folders with what a project consists of. Settings that name a file there make it a part of them only where its name says so. */
const SOURCES = /(^|\/)(src|lib|source|app|dist)\//;
const SETUP_NAME = /setup|test|spec|mock|environment|reporter|transform|resolver|fixture/i;
const isSource = (path: string): boolean => SOURCES.test(path) && !SETUP_NAME.test(posix.basename(path));

/**
 * Which files of a task's tree test runners load because settings of the tree say so: set-up files, reporters, environments,
 * transforms, plugins, and the modules that settings import. They decide what runs and what is reported, so they are those of
 * the base. `workspace` is as it was made. Files that the task leaves to the agent and those that its `gold_patch` changes
 * are left out.
 */
export async function runnerFiles(
  task: TaskConfig,
  workspace: Pick<Workspace, 'path' | 'snapshot'>,
): Promise<(path: string) => boolean> {
  const paths = new Set([...workspace.snapshot.entries.keys()].map(displayPath));
  const isOpen = await leftToAgent(task);
  const found = new Set<string>();
  const isSettings = (path: string) =>
    MIXED.test(path) || (SETTINGS.test(path) && isProtectedByDefault(path) && !path.startsWith('.github/'));
  const queue = [...paths].filter(isSettings).slice(0, MOST_FILES);
  const seen = new Set(queue);
  const take = (path: string | undefined) => {
    if (path === undefined || isOpen(path) || isSource(path)) return;
    if (!MIXED.test(path)) found.add(path);
    if (seen.has(path) || seen.size >= MOST_FILES) return;
    seen.add(path);
    queue.push(path);
  };
  const { options = [], directory = '', files = [] } = task.validation.tests ?? {};
  for (const option of options)
    for (const name of [option, moduleFile(option)]) take(fileOf(name, directory, paths));
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const text = await readInTree(workspace.path, path);
    if (text === undefined) continue;
    const folder = posix.dirname(path);
    const isOwn = isSettings(path);
    const { imports, named } = await namedFiles(path, text);
    for (const name of named) take(fileOf(name, folder, paths));
    for (const name of imports) {
      const target = name.startsWith('.') ? fileOf(name, folder, paths, INDEXES) : undefined;
      // What set-up code imports from other folders is mostly the code under test.
      const isBeside = folder !== '.' && target?.startsWith(`${folder}/`) === true;
      if (isOwn || isBeside) take(target);
    }
  }
  const isBesideTests = besideTests(task.validation.tests?.runner, files);
  return (path) => found.has(path) || (isBesideTests(path) && !isOpen(path));
}

/**
 * Files beside the tests that their runner takes in without being asked: the packages of Python tests, and the other test
 * files of a package of Go, of which one can replace the program that runs them all.
 */
function besideTests(runner: string | undefined, files: readonly string[]): (path: string) => boolean {
  const own = new Set(files);
  const folders = new Set(files.map((file) => posix.dirname(file)));
  if (runner === 'go-test')
    return (path) => path.endsWith('_test.go') && folders.has(posix.dirname(path)) && !own.has(path);
  if (runner !== 'pytest' && runner !== 'unittest') return () => false;
  return (path) =>
    posix.basename(path) === '__init__.py' &&
    /(^|\/)tests?(\/|$)/.test(posix.dirname(path)) &&
    files.some((file) => file.startsWith(`${posix.dirname(path)}/`));
}

async function leftToAgent(task: TaskConfig): Promise<(path: string) => boolean> {
  const isChangeable = changeableIn(task);
  const gold = task.goldPatch === undefined ? '' : await readFile(task.goldPatch, 'utf8').catch(() => '');
  const changed = new Set(
    [...gold.matchAll(/^(?:\+\+\+ b\/|--- a\/|rename (?:from|to) )(.+?)\t?$/gm)].map(([, path]) => path),
  );
  return (path) => changed.has(path) || isChangeable(path);
}

const ENDINGS = ['', ...['.js', '.ts', '.mjs', '.cjs', '.mts', '.cts', '.jsx', '.tsx', '.json', '.py']];
const INDEXES = ['/index.js', '/index.ts', '/index.mjs', '/index.cjs'];

/** The file of the tree that a name in a file of `folder` means, with what an option may have around it. */
function fileOf(
  name: string,
  folder: string,
  paths: ReadonlySet<string>,
  more: readonly string[] = [],
): string | undefined {
  for (const part of [name, ...name.split(/[\s=,]+/)]) {
    // A name alone is that of a package.
    if (!/[./]/.test(part)) continue;
    const bare = part.replace(/^(<rootDir>\/|file:(\/\/)?|\.\/)/, '');
    const base = posix.join(part.startsWith('/') ? '' : folder, bare).replace(/^\/+/, '');
    for (const path of [base, base.replace(/\.([cm]?)js$/, '.$1ts')])
      for (const ending of [...ENDINGS, ...more]) if (paths.has(path + ending)) return path + ending;
  }
  return undefined;
}
