import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it; `mode` is of all that are made. `mkdir` with `recursive` never ends where a system folder
 * such as `/proc` refuses, so no folder is made with it that a person may have named, in an option, a configuration or a variable.
 */
export function makeEach(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (code !== 'ENOENT') throw error;
    makeEach(dirname(folder), mode);
    mkdirSync(folder, mode);
  }
}
