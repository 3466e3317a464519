import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '@whetstone/sandbox';

/** The attempt's own folder, outside workspace, home and run directory. */
export type AttemptFolder = {
  directory: string;
  promptFile: string;
  outputDir: string;
  stateDir: string;
} & AsyncDisposable;

/** Makes the folder below `scratch`, with the prompt file in it. Disposing removes it. */
export async function openAttemptFolder(scratch: string, prompt: string): Promise<AttemptFolder> {
  const directory = join(scratch, `d-${randomBytes(6).toString('hex')}`);
  const folder = {
    directory,
    promptFile: join(directory, 'prompt.md'),
    outputDir: join(directory, 'output'),
    stateDir: join(directory, 'state'),
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
  await mkdir(folder.outputDir, { recursive: true, mode: 0o700 });
  await mkdir(folder.stateDir, { mode: 0o700 });
  await writeFile(folder.promptFile, prompt);
  return folder;
}
