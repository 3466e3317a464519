import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const packageRoot = join(import.meta.dirname, '..');

/** What an example of the README prints when it runs as it is. */
async function run(index: number): Promise<string> {
  const readme = await readFile(join(packageRoot, 'README.md'), 'utf8');
  const example = [...readme.matchAll(/```ts\n(.*?)```/gs)][index]?.[1] ?? '';
  const node = ['--input-type=module-typescript', '--eval', example];
  return (await promisify(execFile)(process.execPath, node, { cwd: packageRoot })).stdout;
}

test('the first example of the README runs a command in a sandbox, and waits for nothing in the background', async () => {
  expect(await run(0)).toMatch(/^0 \/.*\/home\n/);
});

test.runIf(process.platform === 'linux')(
  'the second one ends a tree and keeps both ends of its output',
  { tags: 'linux' },
  async () => {
    expect(await run(1)).toMatch(/^(?:y\n){256}\n\[\d+ bytes left out\]\n[y\n]{512}\n$/);
  },
);
