import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** The folders that exist now; one exit handler removes what nobody cleaned up. */
const folders = new Set<string>();
const removeAll = () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};

/** A folder for long outputs that only this user can read. Synchronous, because streams need it while they run. */
export function makeOutputDirectory(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'whetstone-output-')));
  if (folders.size === 0) process.on('exit', removeAll);
  folders.add(folder);
  return folder;
}

export async function removeOutputDirectory(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off('exit', removeAll);
}
