import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BIN } from './__fixtures__/project.ts';

/** Prints the URL of every module that is loaded. */
const HOOK = `data:text/javascript,
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); } });`;

/** The packages of the files that a program of Node loads, and the files. */
function loadedBy(program: readonly string[]): { packages: string[]; files: string[] } {
  const node = ['--import', HOOK.replaceAll('\n', ''), ...program];
  const { stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' });
  const files = stderr.split('\n').filter((url) => url.startsWith('file:'));
  const packages = files.map(
    (url) => /\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? '',
  );
  return { packages: [...new Set(packages)].sort(), files };
}

test.each([['--version'], ['--help'], ['run --help'], ['agent --help']])(
  '%s loads the parser of the command line and no code of a command',
  (args) => {
    const { packages, files } = loadedBy([BIN, ...args.split(' ')]);
    expect(packages).toEqual(['agents', 'commander', 'whetstone']);
    expect(files.length).toBeLessThan(30);
  },
);

test('the process of the evals loads no library of schemas, which would take most of its start', () => {
  const { packages, files } = loadedBy([join(import.meta.dirname, '../eval/worker/main.ts')]);
  expect(packages).not.toContain('zod');
  expect(files.length).toBeLessThan(100);
});
