import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../../examples/real-agents/install.ts';
import { copilot } from '../native/copilot/copilot.ts';
import { openPermissions } from '../policy/permissions.ts';
import { testedVersion } from './install-agent.ts';
import { programIn, unpackedBeside } from './installed-agents.ts';

test('Copilot unpacks itself at its installation, and not in a case', async () => {
  const program = programIn(copilot, testedVersion(copilot), { XDG_CACHE_HOME: cacheFolder });
  const unpacked = await unpackedBeside(program);
  expect(unpacked).toBeDefined();
  const home = await mkdtemp(join(tmpdir(), 'home-'));
  try {
    const { env } = copilot.launch.settings({
      access: { kind: 'key', baseUrl: 'http://127.0.0.1:9', key: 'key' },
      home,
      workingDirectory: home,
      permissions: openPermissions,
      unpacked: unpacked ?? '',
    });
    const { stdout } = await promisify(execFile)(program, ['--version'], {
      cwd: home,
      env: { PATH: process.env.PATH, ...env },
    });
    expect(stdout).toContain(testedVersion(copilot));
    expect(await bytesIn(home)).toBeLessThan(1e6);
  } finally {
    await rm(home, { recursive: true });
  }
});

async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
