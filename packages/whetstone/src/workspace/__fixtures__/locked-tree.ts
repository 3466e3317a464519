import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkspaces } from '../create-workspaces.ts';
import { resolveCommit } from '../repository.ts';

/** Locks files and folders of a workspace as an agent could, and prints what the host still sees. */
const [repo = '', parent = ''] = process.argv.slice(2);
const scratch = join(parent, 'scratch');
mkdirSync(scratch);
const seen = await look();
console.log(JSON.stringify({ ...seen, left: readdirSync(scratch) }));

async function look() {
  await using workspaces = await createWorkspaces({ repo, scratch, strategy: 'copy' });
  const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
  await using workspace = await workspaces.create(snapshot);
  const folder = join(workspace.path, 'folder');
  rmSync(join(folder, 'file'));
  writeFileSync(join(folder, 'hidden'), 'secret\n', { mode: 0o200 });
  // Readable, but no name in it can be looked up.
  chmodSync(folder, 0o400);
  const { files, unportable } = await workspace.changes();
  chmodSync(folder, 0);
  return { files: files.map(({ path, change }) => `${change} ${path}`), unportable };
}
