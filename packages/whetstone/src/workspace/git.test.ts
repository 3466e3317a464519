import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from './git.ts';

test('an error names the command of git, and not the settings before it', async () => {
  await expect(git(['-c', 'core.abbrev=8', 'rev-parse', '--verify', 'nothing'], {})).rejects.toThrow(
    /^git rev-parse failed: /,
  );
});

test('a folder that is gone is not a git that is missing', async () => {
  const cwd = join(tmpdir(), 'whetstone-gone');
  const error = await git(['--version'], { cwd }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ENOENT' });
});
