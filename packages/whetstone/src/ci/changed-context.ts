import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isInstructionFile } from '@whetstone/agents/config';
import { makeEach } from '@whetstone/sandbox/files';
import { writeEntry } from '../workspace/edit-tree.ts';
import { git } from '../workspace/git.ts';
import { listCommit } from '../workspace/list-commit.ts';
import { readBlobs } from '../workspace/read-blobs.ts';
import { displayPath } from '../workspace/tree-path.ts';

type Entries = Map<string, { mode: string; oid: string }>;

/** What agents read that differs between two commits, as the two arms of a configuration. */
export type ChangedContext = {
  /** In the order of the tree; a skill is named by its folder. */
  what: string[];
  variants: Record<'before' | 'after', Record<string, unknown>>;
};

/**
 * Compares the instruction files and the skills of two commits, and copies both versions into `folder`. The arms lay each
 * version over the tree of every task. `undefined`: nothing differs. Links are left out: the file that they lead to counts.
 */
export async function changedContext(
  gitDir: string,
  commits: { base: string; head: string },
  folder: string,
): Promise<ChangedContext | undefined> {
  const [base, head] = [
    await listCommit(gitDir, commits.base, () => false),
    await listCommit(gitDir, commits.head, () => false),
  ];
  const skills = new Set([...skillFolders(base), ...skillFolders(head)]);
  const paths = [...new Set([...base.keys(), ...head.keys()])].sort().filter((path) => {
    const isRead = isInstructionFile(displayPath(path)) || skillOf(path, skills) !== undefined;
    return isRead && base.get(path)?.oid !== head.get(path)?.oid && ![base, head].some(isLink(path));
  });
  if (paths.length === 0) return undefined;
  await rm(folder, { recursive: true, force: true });
  const arm = async (name: 'before' | 'after', entries: Entries, commit: string) => ({
    description: `What agents read, as in ${commit.slice(0, 12)}`,
    overlays: await overlaysOf(gitDir, join(folder, name), paths, entries),
  });
  return {
    what: [...new Set(paths.map((path) => displayPath(skillOf(path, skills) ?? path)))],
    variants: {
      before: await arm('before', base, commits.base),
      after: await arm('after', head, commits.head),
    },
  };
}

/** The commit that two commits have in common; the base itself where they have none. */
export async function mergeBase(gitDir: string, base: string, head: string): Promise<string> {
  const found = await git(['merge-base', base, head], { gitDir, accepts: [1] });
  return found.toString().trim() || base;
}

/** A file of a commit as text; `undefined` where it has none. */
export async function fileOf(gitDir: string, commit: string, path: string): Promise<string | undefined> {
  const entry = (await listCommit(gitDir, commit, () => false)).get(path);
  if (!entry || entry.mode === '120000') return undefined;
  return (await git(['cat-file', 'blob', entry.oid], { gitDir })).toString();
}

const isLink = (path: string) => (entries: Entries) =>
  ['120000', '160000'].includes(entries.get(path)?.mode ?? '');

function skillFolders(entries: Entries): string[] {
  return [...entries.keys()]
    .filter((path) => basename(path) === 'SKILL.md' && path !== 'SKILL.md')
    .map(dirname);
}

/** The folder of the skill that a file belongs to. */
function skillOf(path: string, skills: ReadonlySet<string>): string | undefined {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    if (skills.has(folder)) return folder;
  }
  return undefined;
}

/** Lays the files of a commit over a tree, and takes those away that the commit does not have. */
async function overlaysOf(
  gitDir: string,
  folder: string,
  paths: readonly string[],
  entries: Entries,
): Promise<object[]> {
  const present = paths.filter((path) => entries.has(path));
  const oids = present.map((path) => entries.get(path)?.oid ?? '');
  makeEach(folder);
  // Under numbers, so that no name of the repository is a path of this machine.
  await readBlobs(gitDir, oids, async (content, index) => {
    await writeEntry(folder, { path: String(index), mode: '100644' }, content);
  });
  const absent = paths.filter((path) => !entries.has(path)).map(displayPath);
  return [
    ...present.map((path, index) => ({ source: join(folder, String(index)), target: displayPath(path) })),
    ...(absent.length === 0 ? [] : [{ remove: absent }]),
  ];
}
