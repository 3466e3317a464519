import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { takeTurns } from './take-turns.ts';
import { absolutePath, displayPath, joinPath } from './tree-path.ts';

/** What a folder holds, without reading its files. */
export type FolderState = { sha256: string; files: number; bytes: number };

/**
 * The state of folders that nothing should write to. It includes inode numbers and change times, which no program can set:
 * a file that was changed is noticed even with its old size and modification time.
 */
export async function folderState(folders: readonly string[]): Promise<FolderState> {
  const hash = createHash('sha256');
  const state = { files: 0, bytes: 0 };
  for (const folder of folders) {
    await walk(folder, (path, stat) => {
      hash.update(`${path}\0${factsOf(stat)}\n`, 'latin1');
      if (!stat.isDirectory()) state.files += 1;
      state.bytes += Number(stat.blocks) * 512;
    });
    hash.update('\n');
  }
  return { sha256: hash.digest('hex'), ...state };
}

/** The path of what was changed last in folders, as it is shown to people; of a removed file, the folder in which it was. */
export async function newestIn(folders: readonly string[]): Promise<string | undefined> {
  let newest: { path: string; at: bigint } | undefined;
  for (const folder of folders) {
    await walk(folder, (path, { ctimeNs }) => {
      if (!newest || ctimeNs > newest.at) newest = { path: join(folder, displayPath(path)), at: ctimeNs };
    });
  }
  return newest?.path;
}

/** Visits everything in a folder, in an order that is always the same. Paths start at the folder. */
async function walk(folder: string, visit: (path: string, stat: BigIntStats) => void): Promise<void> {
  const turn = takeTurns();
  const waiting = [''];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const name of readdirSync(absolutePath(folder, parent), 'latin1').sort()) {
      const path = joinPath(parent, name);
      const stat = lstatSync(absolutePath(folder, path), { bigint: true });
      visit(path, stat);
      if (stat.isDirectory()) waiting.push(path);
      // A promise per file would take as long as looking at it.
      const wait = turn();
      if (wait) await wait;
    }
  }
}

const factsOf = ({ mode, size, ino, mtimeNs, ctimeNs, uid, gid }: BigIntStats): string =>
  `${mode} ${size} ${ino} ${mtimeNs} ${ctimeNs} ${uid} ${gid}`;
