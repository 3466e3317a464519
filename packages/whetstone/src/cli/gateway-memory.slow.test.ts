import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, eventually } from './__fixtures__/project.ts';

const MIB = 1024 * 1024;
const event = `data: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'x'.repeat(1000) })}\n\n`;
const bomb = gzipSync(Buffer.alloc(256 * MIB));

/** Answers `bomb` with an error that is large once it is decompressed, and all else with a stream of 100 events. */
const provider = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (Buffer.concat(chunks).includes('bomb')) {
      response.writeHead(500, { 'content-encoding': 'gzip' }).end(bomb);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let count = 0; count < 100; count++) response.write(event);
    response.end();
  });
});

let folder: string;
let gateway: ChildProcess;
let lane: { baseUrl: string; key: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-memory-'));
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const { port } = provider.address() as AddressInfo;
  const upstream = ['--upstream', `openai=http://127.0.0.1:${port}/v1`, '--key-env', 'openai=A_KEY'];
  gateway = spawn(process.execPath, [BIN, 'gateway', '--mode', 'forward', ...upstream], {
    env: { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: folder, A_KEY: 'sk-of-the-provider' },
    stdio: 'ignore',
  });
  const state = (): string | undefined => {
    const gateways = join(folder, 'whetstone/gateways');
    try {
      const name = readdirSync(gateways).find((one) => !one.includes('.')) ?? '';
      return readFileSync(join(gateways, name, 'gateway.json'), 'utf8');
    } catch {
      return undefined;
    }
  };
  await eventually('the gateway', () => state() !== undefined);
  lane = JSON.parse(state() ?? '');
});
afterAll(async () => {
  gateway.kill();
  await once(gateway, 'exit');
  provider.close();
  provider.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function ask(input: string): Promise<number> {
  const response = await fetch(`${lane.baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lane.key}` },
    body: JSON.stringify({ model: 'm', stream: true, input }),
  });
  await response.arrayBuffer();
  return response.status;
}

const askAtOnce = (count: number, input: string): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => ask(input)));

/** Of the gateway, in MiB. `VmHWM`: the most so far. */
const memory = (field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) /
  1024;

test.runIf(process.platform === 'linux')(
  'compressed errors fill no memory, and memory comes back after a burst of streams',
  { tags: 'linux' },
  async () => {
    await askAtOnce(20, 'warm');
    const before = memory('VmRSS');
    expect(new Set(await askAtOnce(10, 'bomb'))).toEqual(new Set([500]));
    expect(memory('VmHWM') - before).toBeLessThan(200);
    await askAtOnce(120, 'burst');
    const most = memory('VmHWM');
    await expect.poll(() => memory('VmRSS'), { timeout: 20_000, interval: 500 }).toBeLessThan(before * 1.35);
    expect(most).toBeGreaterThan(before);
  },
);
