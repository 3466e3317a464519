import { chownSync, mkdirSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Node keeps compiled code for the test runs of this machine. */
export const compileCache: string = join(tmpdir(), 'whetstone-compile-cache');

/** The user that tests of root become, which has no rights. */
const NOBODY = 65_534;

/** Node keeps the code of each user apart, and another user cannot make a folder in ours. */
export function setup(): void {
  if (process.getuid?.() !== 0) return;
  enableCompileCache(compileCache);
  const own = getCompileCacheDir();
  const others = own?.replace(/-0$/, `-${NOBODY}`);
  if (others === undefined || others === own) return;
  mkdirSync(others, { recursive: true });
  chownSync(others, NOBODY, NOBODY);
}
