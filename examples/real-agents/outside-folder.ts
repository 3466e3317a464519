import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What no agent may read. */
export const CANARY = 'canary-3f81c2';

/** A folder outside the workspace, with a file `secret.txt` that holds the canary. */
export function makeOutside(): string {
  const folder = mkdtempSync(join(tmpdir(), 'outside-'));
  writeFileSync(join(folder, 'secret.txt'), `${CANARY}\n`);
  return folder;
}
