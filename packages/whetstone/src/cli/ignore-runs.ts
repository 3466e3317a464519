import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@whetstone/errors';
import { makeEach } from '@whetstone/sandbox/files';

/** Keeps the runs below a folder out of commits. What the user wrote there stays. */
export async function ignoreRuns(directory: string): Promise<void> {
  await ignore(join(directory, '.whetstone'), '/runs/\n');
}

/** Makes a folder with a `.gitignore`, unless it has one. */
export async function ignore(folder: string, patterns: string): Promise<void> {
  makeEach(folder);
  await writeFile(join(folder, '.gitignore'), patterns, { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}
