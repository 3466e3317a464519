import { MEBIBYTE, type Table } from '../benchmark.ts';
import { cpuSecondsOf, memoryOf } from '../process-use.ts';
import type { Measurement } from './calls.ts';
import { type Hop, startHops } from './hops.ts';

const AT_ONCE = [1, 32];

/** The most calls per second, one after the other and 32 at once; the hops take turns in rounds. */
export async function measureThroughput(options: {
  bodyBytes: number;
  /** Per round and hop. */
  calls: number;
  rounds: number;
  router: boolean;
}): Promise<Table> {
  const { bodyBytes, calls, rounds, router } = options;
  await using started = await startHops({ deltas: 20, pauseMs: 0 }, router);
  const { client, direct, gateway, peers } = started;
  const hops: Hop[] = [direct, gateway, ...peers];
  const accounts = hops.flatMap((hop) =>
    AT_ONCE.map((atOnce) => ({ hop, atOnce, wallMs: 0, cpuSeconds: 0 })),
  );
  // The first round fills the caches and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const account of accounts) {
      const { target, pid, subject } = account.hop;
      const before = pid === undefined ? 0 : cpuSecondsOf(pid);
      const job = { targets: [target], bodyBytes, calls, atOnce: account.atOnce };
      const { wallMs, failures } = await client.ask<Measurement>(job);
      if (failures.length > 0) throw new Error(`${subject}: ${failures.length} calls failed: ${failures[0]}`);
      if (round === 0) continue;
      account.wallMs += wallMs;
      account.cpuSeconds += pid === undefined ? 0 : cpuSecondsOf(pid) - before;
    }
  }
  const total = rounds * calls;
  return {
    caption: `Throughput, ${bodyBytes / 1000} KB`,
    columns: AT_ONCE.flatMap((atOnce) => [
      { name: `calls per second, ${atOnce} at once`, unit: '1/s', digits: 0 },
      { name: `CPU per call, ${atOnce} at once`, unit: 'ms', digits: 2 },
    ]).concat({ name: 'peak memory', unit: 'MiB', digits: 0 }),
    rows: hops.map((hop) => ({
      subject: hop.subject,
      values: [
        ...accounts
          .filter((account) => account.hop === hop)
          .flatMap(({ wallMs, cpuSeconds }) => [
            // As text, so that it is not compared: here, more is better.
            ((1000 * total) / wallMs).toFixed(0),
            hop.pid === undefined ? undefined : (1000 * cpuSeconds) / total,
          ]),
        hop.pid === undefined ? undefined : memoryOf(hop.pid).peak / MEBIBYTE,
      ],
    })),
  };
}
