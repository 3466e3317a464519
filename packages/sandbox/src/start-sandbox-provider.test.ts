import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandboxProvider } from './start-sandbox-provider.ts';

test('starts the provider with this name, and never another one', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'provider-test-'));
  expect((await startSandboxProvider('process', { scratch })).name).toBe('process');
  for (const name of ['lxc', 'toString', '']) {
    await expect(startSandboxProvider(name, { scratch })).rejects.toMatchObject({
      code: 'sandbox-unknown',
      exitCode: 2,
      hint: 'Known: bubblewrap, docker, process, sandbox-runtime.',
    });
  }
  await rm(scratch, { recursive: true });
});
