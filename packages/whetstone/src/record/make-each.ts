import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '@whetstone/errors';

/** Makes a folder and those above it. `mkdir` with `recursive` never ends where a system folder such as `/proc` refuses. */
export function makeEach(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (codeOf(error) !== 'ENOENT') throw error;
    makeEach(dirname(folder));
    mkdirSync(folder);
  }
}
