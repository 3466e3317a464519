import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WhetstoneError } from '../error.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

/** Commits need an author, and a task's own tests may commit; it says nothing about anyone. */
const GIT_CONFIG =
  '[user]\n\tname = Developer\n\temail = developer@localhost\n[init]\n\tdefaultBranch = main\n';

/** Makes the private folders of one sandbox under `scratch`, with names that say nothing about the case. */
export async function makeSandboxFolders(scratch: string): Promise<SandboxFolders & { root: string }> {
  const root = join(scratch, randomUUID().slice(0, 13));
  const folders = { home: join(root, 'home'), temporary: join(root, 'tmp'), runtime: join(root, 'run') };
  const inHome = ['.config', '.cache', '.local/share', '.local/state'].map((name) =>
    join(folders.home, name),
  );
  for (const folder of [...Object.values(folders), ...inHome])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folders.home, '.gitconfig'), GIT_CONFIG);
  return { root, ...folders };
}

/** Removes a folder in which an agent could do anything: unwritable folders, deep trees, names that are no text. */
export async function removeFolder(path: string): Promise<void> {
  const isGone = await rm(path, { recursive: true, force: true, maxRetries: 3 }).then(
    () => true,
    () => false,
  );
  if (isGone) return;
  const run = promisify(execFile);
  await run('chmod', ['-R', 'u+rwX', '--', path]).catch(() => {});
  await run('rm', ['-rf', '--', path]).catch((cause: Error) => {
    throw new WhetstoneError('sandbox-cleanup', 'A temporary folder could not be removed.', {
      where: path,
      hint: 'Remove it by hand.',
      cause,
    });
  });
}
