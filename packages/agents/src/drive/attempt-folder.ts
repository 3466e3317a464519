import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '@whetstone/sandbox';

export type AttemptFolder = ReturnType<typeof openAttemptFolder>;

/** For what the agent gets and gives, outside workspace, home and run directory. Disposing removes the folder. */
export function openAttemptFolder(parent: string) {
  const directory = join(parent, `d-${randomBytes(6).toString('hex')}`);
  const folder = {
    directory,
    /** Holds the prompt; written before each turn. */
    promptFile: join(directory, 'prompt.md'),
    outputDir: join(directory, 'output'),
    stateDir: join(directory, 'state'),
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
  for (const path of [directory, folder.outputDir, folder.stateDir]) mkdirSync(path, { mode: 0o700 });
  return folder;
}
