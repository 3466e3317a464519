import { join } from 'node:path';
import { createGateway, defineScript } from '@whetstone/gateway';
import { installAgents } from '../../examples/real-agents/install.ts';
import { MEBIBYTE, median, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import type { ServerUse } from './server-program.ts';

const PROGRAM = join(import.meta.dirname, 'server-program.ts');
const hello = defineScript({ name: 'hello', play: () => ({ text: 'Hello.' }) });

/** One app-server with many threads, and what a server or process that stays saves a later turn. */
export async function measureAppServer(
  threads: number,
  pairs: number,
  say: (line: string) => void,
): Promise<Table[]> {
  await installAgents();
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'app-server', mode: { kind: 'script', script: hello } });
  say(`${threads} threads on one app-server, and pairs of second turns`);
  const used = await runNode<ServerUse>(PROGRAM, [threads, pairs, lane.baseUrl, lane.key]);
  const pooled = used.pooled.map(({ kind, pairs: measured }) => ({
    subject: kind,
    fresh: median(measured.map(({ fresh }) => fresh)),
    kept: median(measured.map(({ kept }) => kept)),
    saved: median(measured.map(({ fresh, kept }) => fresh - kept)),
  }));
  return [
    tableOf(
      'Threads at once on one codex app-server',
      [{ subject: `${threads} threads`, ...used.threads }],
      [
        ['wall', 's', 2, ({ wallSeconds }) => wallSeconds],
        ['wall per thread', 'ms', 0, ({ wallSeconds }) => (wallSeconds * 1000) / threads],
        ['CPU per thread', 'ms', 0, ({ cpuSeconds }) => (cpuSeconds * 1000) / threads],
        ['memory before', 'MiB', 0, ({ firstBytes }) => firstBytes / MEBIBYTE],
        ['memory, peak', 'MiB', 0, ({ peakBytes }) => peakBytes / MEBIBYTE],
      ],
    ),
    tableOf(`The second turn of a session, wall, ${pairs} pairs`, pooled, [
      ['started anew', 's', 2, ({ fresh }) => fresh],
      ['stayed', 's', 2, ({ kept }) => kept],
      ['saved', 'ms', 0, ({ saved }) => saved * 1000],
    ]),
  ];
}
