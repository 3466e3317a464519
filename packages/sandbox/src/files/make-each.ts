import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '@whetstone/errors';

/**
 * Makes a folder and those above it; `mode` is of all that are made. `mkdir` with `recursive` never ends where a system folder
 * such as `/proc` refuses, so no folder is made with it that a person may have named, in an option, a configuration or a variable.
 */
export function makeEach(folder: string, mode?: number): void {
  try {
    make(folder, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeEach(dirname(folder), mode);
    make(folder, mode);
  }
}

/** Another program may make the same folder at this moment. */
function make(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}
