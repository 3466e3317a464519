import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/**
 * Puts the folder of the interpreter first in PATH where `python3` is a script that looks for it, as with pyenv: that starts
 * ten shells for each start of Python.
 */
export function setup(): void {
  const asked = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  // The tests that need Python say so.
  if (asked.status !== 0) return;
  const folder = dirname(asked.stdout.trim());
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (!folders.includes(folder)) process.env.PATH = [folder, ...folders].join(delimiter);
}
