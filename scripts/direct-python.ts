import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/**
 * Puts the folder of the interpreter first in PATH where `python3` is a script that looks for it, as with pyenv: that starts
 * ten shells for each start of Python.
 */
export function setup(): void {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const program = folders.map((folder) => join(folder, 'python3')).find((path) => existsSync(path));
  if (program === undefined || readFileSync(program).toString('latin1', 0, 2) !== '#!') return;
  const interpreter = execFileSync(program, ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  process.env.PATH = [dirname(interpreter.trim()), ...folders].join(delimiter);
}
