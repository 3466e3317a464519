import { join } from 'node:path';
import { changedEntries } from './changed-entries.ts';
import { writeEntry } from './edit-tree.ts';
import { git } from './git.ts';
import { makeGitDirectory } from './git-directory.ts';
import { readBlobs } from './read-blobs.ts';
import { AGENT_CONFIG, type PreparedSnapshot } from './snapshot.ts';
import { displayPath } from './tree-path.ts';
import type { Changes } from './workspace.ts';

/** Writes the part of a snapshot that `keep` accepts, by display path, and commits it in a `.git` of its own. */
export async function extractTree(
  { entries, objects, format }: PreparedSnapshot,
  folder: string,
  keep: (path: string) => boolean,
  changes?: Pick<Changes, 'files' | 'contents'>,
): Promise<void> {
  const wanted = [...(changes ? changedEntries(entries, changes) : entries)].flatMap(
    ([path, { mode, oid }]) => (mode === '160000' || !keep(displayPath(path)) ? [] : [{ path, mode, oid }]),
  );
  const oids = wanted.map(({ oid }) => oid);
  await readBlobs(changes?.contents ?? join(objects, '..'), oids, async (content, index) => {
    const entry = wanted[index];
    if (entry) await writeEntry(folder, entry, content);
  });
  const call = { gitDir: join(folder, '.git'), workTree: folder };
  makeGitDirectory(call.gitDir, { format, config: AGENT_CONFIG });
  await git(['add', '--all', '--force', '.'], call);
  await git(['commit', '--quiet', '--allow-empty', '--no-verify', '--message', 'Initial commit'], call);
}
