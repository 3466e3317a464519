import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMapping } from '../config/check-shape.ts';
import { parentPaths } from '../workspace/tree-path.ts';
import type { Changes, Workspace } from '../workspace/workspace.ts';
import { RUNNER_KEYS } from './named-files.ts';
import { readInTree } from './read-in-tree.ts';

/** A new text and what of it is that of the base; `undefined`: nothing that decides was changed. */
type Restored = { text: string; what: string } | undefined;

/** What decides in these files is that of the base, by path. `notes`: for the row. */
export type RestoredSettings = { texts: ReadonlyMap<string, string>; notes: readonly string[] };

/** Reads the settings that changes are about, before the changes are applied. A file that is not there yet has none. */
export async function readSettings(
  workspace: Workspace,
  changes: Changes,
  keep: (path: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { path } of changes.files)
    if (Object.hasOwn(SETTINGS, basename(path)) && keep(path))
      found.set(path, (await readInTree(workspace.path, path)) ?? '');
  return found;
}

/** Puts back, after changes were applied, the parts of these files that decide what runs. */
export async function restoreSettings(
  workspace: Workspace,
  before: ReadonlyMap<string, string>,
): Promise<RestoredSettings> {
  const texts = new Map<string, string>();
  const notes: string[] = [];
  for (const [path, base] of before) {
    const now = await readInTree(workspace.path, path);
    if (now === undefined) continue;
    const restored = SETTINGS[basename(path)]?.(base, now);
    const named = await withOwnName(workspace.path, path, base, restored?.text ?? now);
    const text = named ?? restored?.text;
    if (text === undefined) continue;
    texts.set(path, text);
    const what = [restored?.what, named === undefined ? undefined : 'name'].flatMap((one) => one ?? []);
    notes.push(`${path} (${what.join(', ')})`);
  }
  await workspace.write(texts);
  return { texts, notes };
}

/** npm runs them by itself when it installs. */
const INSTALL_SCRIPTS = new Set([
  'preinstall',
  'install',
  'postinstall',
  'preprepare',
  'prepare',
  'postprepare',
]);

/** The scripts of the base, and those new ones that npm does not run by itself. */
function withScriptsOf(base: string, now: string): Restored {
  const before = base === '' ? {} : mappingOf(base);
  const after = mappingOf(now);
  // What npm cannot read makes validation fail by itself.
  if (!before || !after) return undefined;
  const known = isMapping(before.scripts) ? before.scripts : {};
  const added = Object.entries(isMapping(after.scripts) ? after.scripts : {}).filter(
    ([name]) =>
      !Object.hasOwn(known, name) &&
      !INSTALL_SCRIPTS.has(name) &&
      !Object.hasOwn(known, name.replace(/^(pre|post)/, '')),
  );
  const wanted: Record<string, unknown> = { scripts: { ...known, ...Object.fromEntries(added) } };
  for (const key of [...RUNNER_KEYS, 'packageManager']) wanted[key] = before[key];
  const differing = Object.keys(wanted).filter((key) => !isSame(wanted[key], after[key] ?? empty(key)));
  if (differing.length === 0) return undefined;
  return { text: `${JSON.stringify({ ...after, ...wanted }, null, 2)}\n`, what: differing.join(', ') };
}

/**
 * A package that has taken the name of an installed one is found in its place by the tests in it. Then the text has the name
 * of the base again; `undefined`: nothing was wrong.
 */
async function withOwnName(
  tree: string,
  path: string,
  base: string,
  text: string,
): Promise<string | undefined> {
  const after = basename(path) === 'package.json' ? mappingOf(text) : undefined;
  const before = mappingOf(base)?.name;
  const name = after?.name;
  if (!after || typeof name !== 'string' || name === before) return undefined;
  for (const folder of ['', ...parentPaths(path)]) {
    const manifest = await readInTree(tree, join(folder, 'package.json'));
    const isInstalled = await lstat(join(tree, folder, 'node_modules', name)).catch(() => undefined);
    if (!isInstalled && !declares(manifest, name)) continue;
    return `${JSON.stringify({ ...after, name: before }, null, 2)}\n`;
  }
  return undefined;
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** Whether a package.json asks for a package. */
const declares = (manifest: string | undefined, name: string): boolean =>
  DEPENDENCIES.some((key) => {
    const asked = mappingOf(manifest ?? '')?.[key];
    return isMapping(asked) && Object.hasOwn(asked, name);
  });

const empty = (key: string): unknown => (key === 'scripts' ? {} : undefined);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function mappingOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const withPytestOf = linesOf('pytest', (line) => /pytest|\\[uU]/.test(line));
const withTargetsOf = linesOf('test targets', (line) =>
  /harness|autotests|\\[uU]|\[\[\s*["']?(test|bench)\b/.test(line),
);

/**
 * The whole file of the base, where what it says about one thing differs. In a new file, only that is left out. That are the
 * lines that name it, and those of tables that do. Whoever sets an option adds such a line, or one with an escape, behind
 * which a name can hide.
 */
function linesOf(what: string, names: (line: string) => boolean): (base: string, now: string) => Restored {
  const about = (text: string, isAbout: boolean): string[] => {
    let isInTable = false;
    return text.split(/\r?\n/).filter((line) => {
      const isNamed = names(line);
      if (/^\s*\[/.test(line)) isInTable = isNamed;
      return (isNamed || (isInTable && line.trim() !== '')) === isAbout;
    });
  };
  return (base, now) => {
    if (isSame(about(base, true), about(now, true))) return undefined;
    return { text: base === '' ? about(now, false).join('\n') : base, what };
  };
}

/** Files in which only a part decides what runs: by their names, what gives them that part of the base. */
const SETTINGS: Readonly<Record<string, (base: string, now: string) => Restored>> = {
  'package.json': withScriptsOf,
  'pyproject.toml': withPytestOf,
  'setup.cfg': withPytestOf,
  'tox.ini': withPytestOf,
  'Cargo.toml': withTargetsOf,
};
