import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { foldersBelow, watchFolders } from './watch-folders.ts';

test('a folder that was removed and made again is watched again, and a missing one is not an error', async () => {
  const root = mkdtempSync(join(tmpdir(), 'watch-folders-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'evals');
  mkdirSync(folder);
  const missing = join(root, 'missing');
  expect(foldersBelow(missing)).toEqual([]);
  let isBusy = false;
  using changes = await watchFolders(async () => {
    isBusy = !isBusy;
    if (!isBusy) throw Object.assign(new Error('removed while it was read'), { code: 'ENOENT' });
    return [root, folder, missing];
  });
  // As a checkout of Git does, faster than a change is looked at.
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  await changes.changed();
  writeFileSync(join(folder, 'one.eval.ts'), '');
  await changes.changed();
});
