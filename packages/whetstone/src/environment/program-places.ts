import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { entryUnder } from '@whetstone/sandbox';
import { type Manifest, manifestObject } from './whole-tree.ts';

/** Package managers read in the first line what starts a program. */
const PLACE = '#!/usr/bin/env node\n';

/**
 * Puts files where the manifests of packages inside the tree say that their programs are. npm and pnpm link no program whose
 * file is missing, and say nothing, so that a case would lack it in `node_modules/.bin`. The tree has these files itself;
 * those of a build come later. Returns what takes them away again.
 */
export async function holdProgramPlaces(tree: string, manifests: readonly Manifest[]): Promise<() => void> {
  const files: string[] = [];
  const folders: string[] = [];
  for (const path of manifests.flatMap(programsOf)) {
    const file = await entryUnder(tree, path).catch(() => undefined);
    if (file === undefined || lstatSync(file, { throwIfNoEntry: false })) continue;
    const folder = dirname(file);
    const made = mkdirSync(folder, { recursive: true });
    writeFileSync(file, PLACE, { mode: 0o755, flag: 'wx' });
    files.push(file);
    for (let one = folder; made !== undefined && one.length >= made.length; one = dirname(one))
      folders.push(one);
  }
  return () => {
    for (const file of files) if (isPlace(file)) rmSync(file);
    for (const folder of folders) removeIfEmpty(folder);
  };
}

/** Where the programs of a package in a folder of the tree are. Programs of the root are linked nowhere. */
function programsOf({ path, text }: Manifest): string[] {
  if (!path.endsWith('/package.json')) return [];
  const { bin } = manifestObject(text);
  const named = typeof bin === 'object' && bin !== null ? Object.values(bin) : [bin];
  const folder = posix.dirname(path);
  return named
    .flatMap((name) => (typeof name === 'string' && name !== '' ? [posix.join(folder, name)] : []))
    .filter((program) => program.startsWith(`${folder}/`) && !program.endsWith('/'));
}

/** The commands may have written a program there, or have removed it. */
function isPlace(file: string): boolean {
  try {
    return lstatSync(file).isFile() && readFileSync(file, 'utf8') === PLACE;
  } catch {
    return false;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it, or the commands removed it.
  }
}
