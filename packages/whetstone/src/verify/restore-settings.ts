import { basename } from 'node:path';
import { isMapping } from '../config/check-shape.ts';
import type { Changes, Workspace } from '../workspace/workspace.ts';
import { readInTree } from './read-in-tree.ts';

/** Files in which only a part decides what runs: by their names, what gives them that part of the base. */
const SETTINGS: Readonly<Record<string, (base: string, now: string) => Restored>> = {
  'package.json': withScriptsOf,
  'pyproject.toml': withPytestOf,
  'setup.cfg': withPytestOf,
  'tox.ini': withPytestOf,
};

/** A new text and what of it is that of the base; `undefined`: nothing that decides was changed. */
type Restored = { text: string; what: string } | undefined;

/** What decides in these files is that of the base, by path. `notes`: for the row. */
export type RestoredSettings = { texts: ReadonlyMap<string, string>; notes: readonly string[] };

/** Reads the settings that changes are about, before the changes are applied. */
export async function readSettings(
  workspace: Workspace,
  changes: Changes,
  keep: (path: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { path } of changes.files) {
    if (!Object.hasOwn(SETTINGS, basename(path)) || !keep(path)) continue;
    const text = await readInTree(workspace.path, path);
    if (text !== undefined) found.set(path, text);
  }
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
    const restored = now === undefined ? undefined : SETTINGS[basename(path)]?.(base, now);
    if (!restored) continue;
    texts.set(path, restored.text);
    notes.push(`${path} (${restored.what})`);
  }
  await workspace.write(texts);
  return { texts, notes };
}

/** The keys of package.json with which test runners and transpilers are set up. */
const RUNNER_KEYS = ['jest', 'mocha', 'ava', 'tap', 'babel', 'nyc', 'c8', 'packageManager'];

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
  const before = mappingOf(base);
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
  for (const key of RUNNER_KEYS) wanted[key] = before[key];
  const differing = Object.keys(wanted).filter((key) => !isSame(wanted[key], after[key] ?? empty(key)));
  if (differing.length === 0) return undefined;
  return { text: `${JSON.stringify({ ...after, ...wanted }, null, 2)}\n`, what: differing.join(', ') };
}

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

/** The whole file of the base, where what it says about pytest differs. */
function withPytestOf(base: string, now: string): Restored {
  return isSame(aboutPytest(base), aboutPytest(now)) ? undefined : { text: base, what: 'pytest' };
}

/**
 * The lines that name pytest and those of the tables that do. Whoever sets an option of pytest adds such a line, or one with
 * an escape, behind which a name can hide.
 */
function aboutPytest(text: string): string[] {
  let isInTable = false;
  return text.split(/\r?\n/).filter((line) => {
    const names = /pytest|\\[uU]/.test(line);
    if (/^\s*\[/.test(line)) isInTable = names;
    return names || (isInTable && line.trim() !== '');
  });
}
