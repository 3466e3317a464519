import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 * 1024 ** 3;

/**
 * Puts the temporary folders of tests into memory where the system has such a file system: tests make and remove
 * hundreds of thousands of small files. Elsewhere they stay where TMPDIR says. The slow tests use the disk.
 */
export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || freeBytes() < NEEDED_BYTES) return undefined;
  const folder = mkdtempSync(`${MEMORY}/tests-`);
  // Some tests become another user. The name says nothing: some tests look for ours in what an agent sees.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
