import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BIN } from './__fixtures__/project.ts';

/** Prints the URL of every module that is loaded. */
const HOOK = `data:text/javascript,
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); } });`;

test.each([['--version'], ['--help'], ['run --help'], ['agent --help']])(
  '%s loads the parser of the command line and no code of a command',
  (args) => {
    const node = ['--import', HOOK.replaceAll('\n', ''), BIN, ...args.split(' ')];
    const { stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' });
    const files = stderr.split('\n').filter((url) => url.startsWith('file:'));
    const packages = files.map((url) => /\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
    expect([...new Set(packages)].sort()).toEqual(['agents', 'commander', 'whetstone']);
    expect(files.length).toBeLessThan(25);
  },
);
