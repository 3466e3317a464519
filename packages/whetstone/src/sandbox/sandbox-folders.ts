import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '../error.ts';
import { removeTree } from '../remove-tree.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

/** Commits need an author, and a task's own tests may commit; it says nothing about anyone. */
const GIT_CONFIG =
  '[user]\n\tname = Developer\n\temail = developer@localhost\n[init]\n\tdefaultBranch = main\n';

/** Makes the private folders of one sandbox under `scratch`, with names that say nothing about the case. */
export async function makeSandboxFolders(scratch: string): Promise<SandboxFolders & { root: string }> {
  const root = join(scratch, randomUUID().slice(0, 13));
  const folders = { home: join(root, 'home'), temporary: join(root, 'tmp'), runtime: join(root, 'run') };
  // The other XDG folders are named below HOME, and made by whoever writes there first, as their specification says.
  for (const folder of [root, ...Object.values(folders)]) await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folders.home, '.gitconfig'), GIT_CONFIG);
  return { root, ...folders };
}

/** Removes a folder in which an agent could do anything. */
export async function removeFolder(path: string): Promise<void> {
  await removeTree(path).catch((cause: Error) => {
    throw new WhetstoneError('sandbox-cleanup', 'A temporary folder could not be removed.', {
      where: path,
      hint: 'Remove it by hand.',
      cause,
    });
  });
}
