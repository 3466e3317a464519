import { randomUUID } from 'node:crypto';
import { rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, removeTree } from '@whetstone/sandbox';

export type AttemptFolder = ReturnType<typeof openAttemptFolder>;

/** For what the agent gets and gives, outside workspace, home and run directory. Disposing removes the folder. */
export function openAttemptFolder(parent: string) {
  const directory = join(parent, `d-${randomUUID().slice(-12)}`);
  const folder = {
    directory,
    /** Holds the prompt; written before each turn. */
    promptFile: join(directory, 'prompt.md'),
    outputDir: join(directory, 'output'),
    stateDir: join(directory, 'state'),
    [Symbol.asyncDispose]: () => remove(folder),
  };
  for (const path of [directory, folder.outputDir, folder.stateDir]) makeFolders(path, 0o700);
  return folder;
}

/** Most agents leave nothing there but their prompt. Only other trees are worth the thread that walks them. */
async function remove({ directory, promptFile, outputDir, stateDir }: Folder): Promise<void> {
  try {
    unlinkSync(promptFile);
    for (const path of [outputDir, stateDir, directory]) rmdirSync(path);
  } catch {
    await removeTree(directory);
  }
}

type Folder = Record<'directory' | 'promptFile' | 'outputDir' | 'stateDir', string>;
