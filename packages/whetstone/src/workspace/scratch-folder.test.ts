import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeTempDir } from './__fixtures__/test-repo.ts';
import { makeScratch, sweepScratch } from './scratch-folder.ts';
import { temporaryPrefix } from './temporary-name.ts';

test('only folders of processes that have ended are swept, and none of another PID namespace', async () => {
  const folder = makeTempDir();
  vi.stubEnv('TMPDIR', folder);
  await using _scratch = await makeScratch();
  const [alive = ''] = readdirSync(folder);
  expect(alive.startsWith(temporaryPrefix())).toBe(true);
  const ended = basename(alive).replace(`-${process.pid}-`, '-999999999-');
  const elsewhere = ended.replace(/^(whetstone-\d+)-\d+/, '$1-1');
  for (const name of [ended, elsewhere, 'whetstone-x']) mkdirSync(join(folder, name));
  await sweepScratch();
  const left = [alive, ended, elsewhere, 'whetstone-x'].map((name) => existsSync(join(folder, name)));
  expect(left).toEqual([true, false, true, true]);
});
