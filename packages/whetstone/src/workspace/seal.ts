import { lstatSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { rememberFolders } from '@whetstone/sandbox/process';
import { folderState, newestIn } from './folder-state.ts';

/** Folders that nothing should write to any more. */
export type Seal = {
  /** A path of what was changed, added or removed in them since, or the folder, and whether it is gone; `undefined`: nothing was. */
  broken(): Promise<string | undefined>;
};

/** To ask another process about fewer files takes longer than to look at them. */
const MANY = 40;

/** Remembers the state of folders, without reading their files. */
export async function sealFolders(folders: readonly string[]): Promise<Seal> {
  // First, so that a change between the two looks makes them differ, and this one decides.
  const isAsBefore = await rememberFolders(folders);
  const { sha256, files } = await folderState(folders);
  return {
    async broken() {
      if (files >= MANY && (await isAsBefore?.())) return undefined;
      try {
        if ((await folderState(folders)).sha256 === sha256) return undefined;
        return await newestIn(folders);
      } catch (error) {
        if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error) ?? '')) throw error;
        const gone = folders.find((folder) => !lstatSync(folder, { throwIfNoEntry: false }));
        return gone === undefined ? folders[0] : `${gone}, which is gone`;
      }
    },
  };
}
