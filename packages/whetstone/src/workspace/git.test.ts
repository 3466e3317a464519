import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeTempDir } from './__fixtures__/test-repo.ts';
import { git, gitVersion } from './git.ts';

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

test('the version is that of the git of the PATH, also after an update', async () => {
  const own = await gitVersion();
  const folder = makeTempDir();
  const install = (version: string) => {
    rmSync(join(folder, 'git'), { force: true });
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho git version ${version}\n`);
    chmodSync(join(folder, 'git'), 0o755);
  };
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  install('9.1');
  expect([await gitVersion(), await gitVersion()]).toEqual(['9.1', '9.1']);
  install('9.20');
  expect(await gitVersion()).toBe('9.20');
  vi.unstubAllEnvs();
  expect(await gitVersion()).toBe(own);
  rmSync(folder, { recursive: true });
});
