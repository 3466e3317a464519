import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasBubblewrap } from '../__fixtures__/has-bubblewrap.ts';
import { createPidNamespaceContainment } from '../process-sandbox/pid-namespace.ts';
import { startSandboxProvider } from '../start-sandbox-provider.ts';
import { probeSandbox } from './probe-sandbox.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function reached(name: string): Promise<string[]> {
  const scratch = join(folder, 'scratch');
  const kept = join(folder, 'hidden');
  await mkdir(kept);
  await writeFile(join(kept, 'test'), 'hidden');
  const findings = await probeSandbox(await startSandboxProvider(name, { scratch }), {
    scratch,
    kept: [kept],
  });
  expect(findings).toHaveLength(11);
  return findings.filter((finding) => finding.reached).map(({ attack }) => attack);
}

test.runIf(hasBubblewrap)('nothing comes out of bubblewrap', { tags: 'bubblewrap' }, async () => {
  expect(await reached('bubblewrap')).toEqual([]);
});

test.runIf((await createPidNamespaceContainment()) !== undefined)(
  'the same attacks come out of a process, as its documentation says',
  { tags: 'pid-namespaces' },
  async () => {
    const all = ['kept-files', 'tcp', 'udp', 'abstract-sockets'];
    const asRoot = ['system-secrets', 'harness'];
    const found = await reached('process');
    expect(found).toEqual(expect.arrayContaining(process.getuid?.() === 0 ? [...all, ...asRoot] : all));
    expect(found).not.toContain('other-cases');
  },
);
