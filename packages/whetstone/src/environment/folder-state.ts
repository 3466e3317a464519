import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import { takeTurns } from '../workspace/take-turns.ts';
import { absolutePath, joinPath } from '../workspace/tree-path.ts';

/** What a folder holds, without reading its files. */
export type FolderState = { sha256: string; files: number; bytes: number };

/**
 * The state of folders that nothing should write to. It includes inode numbers and change times, which no program can set:
 * a file that was changed is noticed even with its old size and modification time.
 */
export async function folderState(folders: readonly string[]): Promise<FolderState> {
  const hash = createHash('sha256');
  const state = { files: 0, bytes: 0 };
  const turn = takeTurns();
  for (const folder of folders) {
    const waiting = [''];
    for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
      const names = readdirSync(absolutePath(folder, parent), { encoding: 'buffer' });
      for (const name of names.map((one) => one.toString('latin1')).sort()) {
        const path = joinPath(parent, name);
        const stat = lstatSync(absolutePath(folder, path), { bigint: true });
        hash.update(`${path}\0${factsOf(stat)}\n`, 'latin1');
        if (stat.isDirectory()) waiting.push(path);
        else state.files += 1;
        state.bytes += Number(stat.blocks) * 512;
        await turn();
      }
    }
    hash.update('\n');
  }
  return { sha256: hash.digest('hex'), ...state };
}

const factsOf = ({ mode, size, ino, mtimeNs, ctimeNs, uid, gid }: BigIntStats): string =>
  [mode, size, ino, mtimeNs, ctimeNs, uid, gid].join(' ');
