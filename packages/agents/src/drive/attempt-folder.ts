import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '@whetstone/sandbox';

export type AttemptFolder = Awaited<ReturnType<typeof openAttemptFolder>>;

/** For what the agent gets and gives, outside workspace, home and run directory. Disposing removes the folder. */
export async function openAttemptFolder(parent: string) {
  const directory = join(parent, `d-${randomBytes(6).toString('hex')}`);
  const folder = {
    directory,
    /** Holds the prompt; written before each turn. */
    promptFile: join(directory, 'prompt.md'),
    outputDir: join(directory, 'output'),
    stateDir: join(directory, 'state'),
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
  await mkdir(folder.outputDir, { recursive: true, mode: 0o700 });
  await mkdir(folder.stateDir, { mode: 0o700 });
  return folder;
}
