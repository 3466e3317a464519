/**
 * A gateway with one lane at a time, which plays a script or forwards to a provider. Its argument is a `LaneKind` as
 * JSON. It sends the lane's base URL and key to its parent, follows each `GatewayOrder`, and ends with its parent.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGateway, type LaneMode, scriptFromSteps } from '@whetstone/gateway';
import { createMask } from '@whetstone/sandbox';

/** `keeps`: the bodies of calls are kept, as in a run. */
export type LaneKind = ({ kind: 'script' } | { kind: 'forward'; upstream: string }) & { keeps: boolean };

export type OpenedLane = { baseUrl: string; key: string };

/**
 * `next-lane`: closes the lane and opens another; the answer is an `OpenedLane`. `live`: collects the garbage; the answer
 * is the number of bytes in use, on V8's heap and in buffers.
 */
export type GatewayOrder = { order: 'next-lane' | 'live' };

const kind: LaneKind = JSON.parse(process.argv[2] ?? '');
const mode = modeOf(kind);
const folder = mkdtempSync(join(tmpdir(), 'gateway-benchmark-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
/** As many secrets as a run has. */
const mask = createMask(['sk-as-long-as-keys-are-0123456789abcdef', 'another-key-of-the-machine-0123456789']);

const gateway = await createGateway();
let lane = await openLane();

process.on('message', async ({ order }: GatewayOrder) => {
  if (order === 'live') {
    process.send?.(await liveBytes());
    return;
  }
  await lane.close();
  lane = await openLane();
});
process.once('disconnect', () => process.exit());

async function openLane(): ReturnType<typeof gateway.open> {
  const exchanges = { file: join(folder, 'exchanges.jsonl.zst'), mask: () => mask.stream() };
  const opened = await gateway.open({ owner: 'benchmark', mode, ...(kind.keeps && { exchanges }) });
  process.send?.({ baseUrl: opened.baseUrl, key: opened.key } satisfies OpenedLane);
  return opened;
}

function modeOf(kind: LaneKind): LaneMode {
  if (kind.kind === 'script') return { kind: 'script', script: scriptFromSteps('benchmark', []) };
  const upstream = {
    baseUrl: kind.upstream,
    key: { command: 'echo sk-as-long-as-keys-are-0123456789abcdef' },
  };
  return { kind: 'forward', upstreams: { 'anthropic-messages': upstream } };
}

async function liveBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Weakly held objects are collected in a later turn of the event loop than their holders.
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await pause(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
