import { lstatSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { folderState, newestIn } from './folder-state.ts';

/** Folders that nothing should write to any more. */
export type Seal = {
  /** A path of what was changed, added or removed in them since, or the folder, and whether it is gone; `undefined`: nothing was. */
  broken(): Promise<string | undefined>;
};

/** Remembers the state of folders, without reading their files. */
export async function sealFolders(folders: readonly string[]): Promise<Seal> {
  const { sha256 } = await folderState(folders);
  return {
    async broken() {
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
