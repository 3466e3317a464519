import { chown, copyFile, mkdir, mkdtemp, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { removeTree } from '../files/remove-tree.ts';
import type { Owner } from '../process/launcher-interface.ts';
import type { Lent } from '../process-sandbox/containment.ts';

/** Where a command sees what it was lent. */
const SHELF = '/run/lent';

/** Copies files that belong to the user of this process, so that one command of `owner` can read them. */
export async function lendCopies(
  files: Readonly<Record<string, string>>,
  { beside, owner }: { beside: string; owner: Owner | undefined },
): Promise<Lent> {
  const folder = await mkdtemp(join(dirname(beside), 'lent-'));
  const env: Record<string, string> = {};
  const give = async (path: string) => owner && (await chown(path, owner.uid, owner.gid));
  for (const [name, path] of Object.entries(files)) {
    const isFile = isAbsolute(path) && (await stat(path).catch(() => undefined))?.isFile();
    // What is not there, or is a folder of certificates, is the command's to look for.
    if (!isFile) continue;
    // Programs print the name of the file.
    const copy = join(folder, name, basename(path));
    await mkdir(dirname(copy));
    await copyFile(path, copy);
    for (const made of [dirname(copy), copy]) await give(made);
    env[name] = join(SHELF, name, basename(path));
  }
  await give(folder);
  return {
    env,
    entries: [{ kind: 'see', path: SHELF, source: folder }],
    [Symbol.asyncDispose]: () => removeTree(folder),
  };
}
