import { chown, copyFile, mkdir, mkdtemp, realpath, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../files/remove-tree.ts';
import { isUnder } from '../files/sandbox-files.ts';
import type { Owner } from '../process/launcher-interface.ts';
import type { Lent } from '../process-sandbox/containment.ts';

/** Where a command sees what it was lent. */
const SHELF = '/run/lent';

/**
 * Copies files that belong to the user of this process, so that one command of `owner` can read them, and shows it folders
 * where they are: a value may name several, also as `file:` addresses, such as an index of packages.
 */
export async function lendCopies(
  files: Readonly<Record<string, string>>,
  { beside, owner }: { beside: string; owner: Owner | undefined },
): Promise<Lent> {
  const folder = await mkdtemp(join(dirname(beside), 'lent-'));
  const env: Record<string, string> = {};
  const folders = new Set<string>();
  const give = async (path: string) => owner && (await chown(path, owner.uid, owner.gid));
  for (const [name, path] of Object.entries(files)) {
    const isFile = isAbsolute(path) && (await stat(path).catch(() => undefined))?.isFile();
    if (!isFile) {
      // What is not there is the command's to look for.
      for (const one of await foldersIn(path, beside)) folders.add(one);
      continue;
    }
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
    entries: [
      { kind: 'see', path: SHELF, source: folder },
      ...outermost([...folders]).map((path) => ({ kind: 'see' as const, path, source: path })),
    ],
    [Symbol.asyncDispose]: () => removeTree(folder),
  };
}

/**
 * The folders that a value names, by their real paths too. None of them has the files of a whole user, of the machine or of
 * the sandboxes in it.
 */
async function foldersIn(value: string, beside: string): Promise<string[]> {
  const paths = [value, ...value.split(/[\s,|]+/)].flatMap((word) => {
    if (isAbsolute(word)) return [resolve(word)];
    if (!word.startsWith('file:///') || !URL.canParse(word)) return [];
    const path = resolve(fileURLToPath(word));
    // The pages of a Python index name packages beside it: `../../packages/…`.
    return [basename(path) === 'simple' ? dirname(path) : path];
  });
  const found: string[] = [];
  for (const path of new Set(paths)) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isDirectory()) continue;
    if ([homedir(), tmpdir(), '/usr', '/etc', beside].some((kept) => isUnder(real, kept))) continue;
    found.push(path, real);
  }
  return found;
}

/** A folder in another one is seen with it. */
const outermost = (paths: readonly string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other !== path && isUnder(other, path)));
