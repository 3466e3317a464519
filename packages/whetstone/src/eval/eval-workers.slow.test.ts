import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { openEvalWorkers, type TestHost } from './eval-workers.ts';

const CODE = `
export const waits = { test: async (t) => { await (await fetch(t.flags.address)).text(); } };
export const settles = {
  test: (t) => { t.check(fetch(t.flags.address).then((answer) => answer.text()), { label: 'late', match: () => ({ status: 'matched', reason: 'it came' }) }); },
};
export const forgets = { test: () => new Promise(() => {}) };
export default { waits, settles, forgets };
`;

test('the code of an eval may wait for a model as long as its attempt lasts, but not wait for nothing', async () => {
  const folder = makeTempDir();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'own.eval.mjs');
  writeFileSync(file, CODE);
  const slow = createServer((_, answer) => void setTimeout(() => answer.end('late'), 7000)).listen(0);
  const { port } = slow.address() as AddressInfo;
  await using workers = openEvalWorkers({ ownCodeMs: 5000 });
  await Promise.all(Array.from({ length: 4 }, () => workers.describe([])));
  const calls = new Proxy({} as TestHost['calls'], { get: () => async () => undefined });
  const ended = async (key: string, limitMs = 20_000) => {
    const flags = { address: `http://127.0.0.1:${port}` };
    const request = { file, key, id: key, flags, agentName: 'a', capabilities: {} };
    const signal = AbortSignal.timeout(limitMs);
    using attempt = workers.open(request, { calls, onLog: () => undefined, signal });
    const { failure } = await attempt.run();
    return failure?.message ?? (await attempt.settle()).assertions.map(({ status }) => status);
  };
  const found = await Promise.all([ended('waits'), ended('settles'), ended('forgets'), ended('waits', 1000)]);
  slow.close();
  expect(found).toEqual([
    [],
    ['passed'],
    expect.stringContaining('waited for nothing'),
    expect.stringContaining('did not end within 1 s of the time limit'),
  ]);
});
