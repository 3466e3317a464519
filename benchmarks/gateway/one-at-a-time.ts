import { MEBIBYTE, quantile, tableOf } from '../benchmark.ts';
import { memoryOf } from '../process-use.ts';
import type { Call, Measurement } from './calls.ts';
import { type ProxyHop, startHops } from './hops.ts';

/**
 * One call at a time. Each call through a proxy is compared with a call without one right before or after it, and the
 * proxies take turns in rounds, so that other load on the machine affects all of them equally.
 */
export async function measureOneAtATime(options: {
  caption: string;
  bodyBytes: number;
  /** Per round and proxy. */
  calls: number;
  /** In addition to a first round that is not counted, in which V8 compiles the code. */
  rounds: number;
  router: boolean;
}) {
  const { caption, bodyBytes, calls, rounds, router } = options;
  await using started = await startHops({ deltas: 20, pauseMs: 0 }, router);
  const { client, direct, gateway, peers } = started;
  const pairs = new Map([gateway, ...peers].map((proxy): [ProxyHop, Pair[]] => [proxy, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [proxy, own] of pairs) {
      const job = { targets: [direct.target, proxy.target], bodyBytes, calls, atOnce: 1 };
      const { calls: measured, failures } = await client.ask<Measurement>(job);
      if (failures.length > 0) throw new Error(`${failures.length} calls failed: ${failures[0]}`);
      if (round > 0) own.push(...pairsOf(measured));
    }
  }

  const ours = pairs.get(gateway) ?? [];
  const rows: Timed[] = [
    { subject: direct.subject, calls: [...pairs.values()].flat().map((pair) => pair.direct) },
    ...Array.from(pairs, ([proxy, own]) => ({
      subject: proxy.subject,
      calls: own.map(({ proxied }) => proxied),
      proxy: { pairs: own, pid: proxy.pid },
    })),
  ];
  return {
    table: tableOf(caption, rows, [
      [
        'first byte, p50',
        'ms',
        2,
        ({ calls }) =>
          quantile(
            calls.map(({ firstByteMs }) => firstByteMs),
            0.5,
          ),
      ],
      [
        'whole, p50',
        'ms',
        2,
        ({ calls }) =>
          quantile(
            calls.map(({ wholeMs }) => wholeMs),
            0.5,
          ),
      ],
      [
        'whole, p99',
        'ms',
        2,
        ({ calls }) =>
          quantile(
            calls.map(({ wholeMs }) => wholeMs),
            0.99,
          ),
      ],
      ['added, p50', 'ms', 2, ({ proxy }) => proxy && quantile(proxy.pairs.map(added), 0.5)],
      ['added, p99', 'ms', 2, ({ proxy }) => proxy && quantile(proxy.pairs.map(added), 0.99)],
      [
        'first byte held, p50',
        'ms',
        2,
        ({ proxy }) => proxy && quantile(proxy.pairs.map(firstByteHeld), 0.5),
      ],
      [
        'first byte held, p99',
        'ms',
        2,
        ({ proxy }) => proxy && quantile(proxy.pairs.map(firstByteHeld), 0.99),
      ],
      ['peak memory', 'MiB', 0, ({ proxy }) => proxy && memoryOf(proxy.pid).peak / MEBIBYTE],
    ]),
    // Medians in milliseconds: what the gateway adds to a call, and how long it holds the first byte.
    added: quantile(ours.map(added), 0.5),
    firstByteHeld: quantile(ours.map(firstByteHeld), 0.5),
  };
}

type Timed = { subject: string; calls: Call[]; proxy?: { pairs: Pair[]; pid: number } };

type Pair = { direct: Call; proxied: Call };

const pairsOf = ([direct = [], proxied = []]: Measurement['calls']): Pair[] =>
  proxied.flatMap((call, index) => {
    const other = direct[index];
    return call && other ? [{ direct: other, proxied: call }] : [];
  });

const added = ({ direct, proxied }: Pair): number => proxied.wholeMs - direct.wholeMs;

const firstByteHeld = ({ direct, proxied }: Pair): number => firstLag(proxied) - firstLag(direct);

const firstLag = ({ lagsMs: [first = Number.NaN] }: Call): number => first;
