import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder that is removed at the end of its scope. */
export function temporaryFolder(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'whetstone-benchmark-'));
}
