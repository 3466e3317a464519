import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSandbox } from './__fixtures__/sandbox-suite.ts';
import { probeSandbox } from './probe/probe-sandbox.ts';
import { startSandboxProvider } from './start-sandbox-provider.ts';

// The library shows no folder of /dev, in which the tests usually work. This file has a process of its own.
process.env.TMPDIR = '/tmp';

/** Whether it starts on this machine. */
async function starts(): Promise<boolean> {
  const scratch = mkdtempSync(join(tmpdir(), 'sandbox-runtime-'));
  try {
    await startSandboxProvider('sandbox-runtime', { scratch });
    return true;
  } catch (error) {
    console.error(error);
    return false;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const isThere = await starts();

describeSandbox({
  name: 'sandbox-runtime',
  isolation: { processes: 'descendants', neighbours: 'hidden', network: 'gateway-only', level: 1 },
  isThere,
  tag: 'sandbox-runtime',
});

test.runIf(isThere)(
  'no attack comes through, and the gateway is reached at its port',
  { tags: 'sandbox-runtime' },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-runtime-'));
    const gateway = createServer((_, response) => response.end('gateway')).listen(0, '127.0.0.1');
    const other = createServer((_, response) => response.end('other')).listen(0, '127.0.0.1');
    try {
      await Promise.all([gateway, other].map((server) => once(server, 'listening')));
      const [port = 0, closed] = [gateway, other].map((server) => (server.address() as AddressInfo).port);
      const [scratch, kept] = [join(folder, 's'), join(folder, 'kept')];
      writeFileSync(kept, 'x\n');
      const provider = await startSandboxProvider('sandbox-runtime', { scratch });
      const found = await probeSandbox(provider, { scratch, kept: [kept] });
      expect(found.filter(({ reached }) => reached)).toEqual([]);
      const workdir = join(scratch, 'w/repo');
      mkdirSync(workdir, { recursive: true });
      const doors = new Map([[port, () => undefined]]);
      await using sandbox = await provider.start({ workdir, env: {}, doors });
      const ask = (at: number | undefined) =>
        `curl -sS --max-time 5 http://127.0.0.1:${at}/ || echo ' closed'`;
      const { stdout } = await sandbox.runShell(`${ask(port)}; ${ask(closed)}`);
      expect(stdout).toBe('gateway closed\n');
    } finally {
      for (const server of [gateway, other]) server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
