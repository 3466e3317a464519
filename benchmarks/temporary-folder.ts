import { type DisposableTempDir, existsSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder that is removed at the end of its scope. */
export function temporaryFolder(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'whetstone-benchmark-'));
}

/**
 * The same in memory, where the system has such a file system, and for the programs that are started meanwhile, whose
 * TMPDIR it is. File systems differ in what a new file costs, up to a hundredfold, and that is not what is measured.
 */
export function temporaryFolderInMemory(): Disposable & { path: string; isInMemory: boolean } {
  const before = process.env.TMPDIR;
  const isInMemory = existsSync('/dev/shm');
  if (isInMemory) process.env.TMPDIR = '/dev/shm';
  const folder = temporaryFolder();
  return {
    path: folder.path,
    isInMemory,
    [Symbol.dispose]() {
      folder[Symbol.dispose]();
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    },
  };
}
