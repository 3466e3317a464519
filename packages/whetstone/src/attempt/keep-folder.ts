import { lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import type { Mask } from '@whetstone/sandbox';
import { absolutePath, displayPath, joinPath, parentPath } from '../workspace/tree-path.ts';
import { keepFile, UnreadableSource } from './keep-file.ts';

const LIMITS = { bytes: 256 * 1024 * 1024, entries: 10_000 };

export type KeepFolderOptions = {
  mask: Mask;
  /** What notes call the folder. */
  name: 'output' | 'workspace';
  limits?: typeof LIMITS;
};

/**
 * Copies a folder of the agent, if it has entries. Reads only what is below `source`: a symlink is copied as a link. Masks
 * secrets, in names as well, and leaves out `.git`, whose compressed objects cannot be masked. Resolves with notes on what
 * was masked or left out; rejects only when the copy cannot be written.
 */
export async function keepFolder(
  source: string,
  target: string,
  { mask, name: shown, limits = LIMITS }: KeepFolderOptions,
): Promise<string[]> {
  const notes: string[] = [];
  const left = { ...limits };
  const keeping: Keeping = { mask, shown, left, notes };
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of namesIn(source, folder, keeping)) {
      if (left.entries === 0) {
        notes.push(`${shown}: everything after the first ${limits.entries} entries was left out`);
        return notes;
      }
      left.entries -= 1;
      const path = joinPath(folder, name);
      const kind = await keepEntry(source, target, path, keeping);
      if (kind === 'folder') folders.push(path);
    }
  }
  return notes;
}

type Keeping = Pick<KeepFolderOptions, 'mask'> & {
  shown: string;
  left: { bytes: number };
  notes: string[];
};

/** Copies one entry. A folder is made empty; its entries follow. */
async function keepEntry(source: string, target: string, path: string, keeping: Keeping) {
  const { mask, shown, left, notes } = keeping;
  const from = absolutePath(source, path);
  const shownPath = `${shown}/${mask.text(displayPath(path))}`;
  const named = mask.bytes(Buffer.from(path, 'latin1')).toString('latin1');
  const to = absolutePath(target, named);
  try {
    const found = reading(() => lstatSync(from));
    mkdirSync(found.isDirectory() ? to : absolutePath(target, parentPath(named)), { recursive: true });
    if (found.isDirectory()) return 'folder';
    if (found.isSymbolicLink()) {
      symlinkSync(mask.bytes(reading(() => readlinkSync(from, { encoding: 'buffer' }))), to);
      return 'done';
    }
    if (found.isFile() && found.size > left.bytes) throw new UnreadableSource(`the ${shown} is too large`);
    const kept = await keepFile(from, to, {
      mask,
      limitBytes: left.bytes,
      isExecutable: (found.mode & 0o100) !== 0,
    });
    left.bytes -= found.size;
    if (kept === 'masked') notes.push(`${shownPath}: secrets were masked`);
  } catch (error) {
    if (!(error instanceof UnreadableSource) && !isNoName(error)) throw error;
    const why = error instanceof UnreadableSource ? error.message : 'its name cannot be kept';
    notes.push(`${shownPath} was left out: ${why}`);
  }
  return 'done';
}

function namesIn(source: string, folder: string, { mask, shown, notes }: Keeping): string[] {
  const path = absolutePath(source, folder);
  try {
    // The agent may have removed the output directory or replaced it with a link.
    if (!lstatSync(path).isDirectory()) throw new Error('not a folder');
    return readdirSync(path, { encoding: 'buffer' })
      .map((name) => name.toString('latin1'))
      .filter((name) => name !== '.git')
      .sort();
  } catch {
    const path = displayPath(folder === '' ? shown : `${shown}/${folder}`);
    notes.push(mask.text(`${path}: the folder cannot be read`));
    return [];
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new UnreadableSource('it cannot be read', { cause });
  }
}

/** Two names can be equal once secrets are masked in them, and a path can be too long in the run directory. */
const isNoName = (error: unknown): boolean => ['EEXIST', 'ENAMETOOLONG'].includes(codeOf(error) ?? '');
