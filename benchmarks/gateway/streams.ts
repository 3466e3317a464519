import { setTimeout as pause } from 'node:timers/promises';
import { MEBIBYTE, quantile, tableOf } from '../benchmark.ts';
import { memoryOf } from '../process-use.ts';
import type { Call, Measurement } from './calls.ts';
import { type Hop, startHops } from './hops.ts';

const DELTAS = 50;
const PAUSE_MS = 20;
/** Before what is measured, 8 at once: V8 compiles the code of each process. */
const WARM_UP_CALLS = 100;
/** After the last stream has ended. */
const CALM_MS = 3_000;

/**
 * Many streams at once, each with a pause before every event; the hops take turns in rounds. `waitMs`: how long the
 * provider takes to its first event.
 */
export async function measureStreams(options: {
  bodyBytes: number;
  waitMs: number;
  streams: number;
  rounds: number;
  router: boolean;
}) {
  const { bodyBytes, waitMs, streams, rounds, router } = options;
  await using started = await startHops({ waitMs, deltas: DELTAS, pauseMs: PAUSE_MS }, router);
  const { client, direct, gateway, pipe, peers } = started;
  const hops: Hop[] = [direct, gateway, ...peers];
  const callsOf = new Map(hops.map((hop): [Hop, Call[]] => [hop, []]));
  const residentOf = new Map(hops.map((hop): [Hop, number[]] => [hop, []]));
  const look = () => {
    for (const [{ pid }, looks] of residentOf) if (pid) looks.push(memoryOf(pid).now);
  };
  for (const { target } of hops) {
    await client.ask<Measurement>({ targets: [target], bodyBytes, calls: WARM_UP_CALLS, atOnce: 8 });
  }
  look();
  for (let round = 0; round < rounds; round++) {
    for (const [{ target }, calls] of callsOf) {
      const job = { targets: [target], bodyBytes, calls: streams, atOnce: streams };
      const { calls: measured } = await client.ask<Measurement>(job);
      calls.push(...measured.flat().filter((call) => call !== null));
    }
    await pause(CALM_MS);
    look();
  }

  const begun = rounds * streams;
  const wholeDirect = medianOf(callsOf.get(direct) ?? [], 'wholeMs');
  const firstByteOf = (hop: Hop): number => medianOf(callsOf.get(hop) ?? [], 'firstByteMs');
  const rows = Array.from(callsOf, ([hop, calls]) => ({
    subject: hop.subject,
    pid: hop.pid,
    resident: residentOf.get(hop) ?? [],
    complete: calls.length,
    firstByte: medianOf(calls, 'firstByteMs'),
    whole: medianOf(calls, 'wholeMs'),
    firstLags: calls.flatMap(({ lagsMs }) => lagsMs.slice(0, 1)),
    laterLags: calls.flatMap(({ lagsMs }) => lagsMs.slice(1)),
  }));
  return {
    table: tableOf(captionOf(streams, waitMs), rows, [
      ['complete', 'streams', 0, ({ complete }) => `${complete} of ${begun}`],
      ['first byte, p50', 'ms', 0, ({ firstByte }) => firstByte],
      ['whole, p50', 'ms', 0, ({ whole }) => whole],
      ['added', 'ms', 0, ({ pid, whole }) => pid && whole - wholeDirect],
      ['first event late by, p50', 'ms', 1, ({ firstLags }) => quantile(firstLags, 0.5)],
      ['first event, most', 'ms', 1, ({ firstLags }) => quantile(firstLags, 1)],
      ['later ones, p50', 'ms', 1, ({ laterLags }) => quantile(laterLags, 0.5)],
      ['later ones, p99', 'ms', 1, ({ laterLags }) => quantile(laterLags, 0.99)],
      ['peak memory', 'MiB', 0, ({ pid }) => pid && memoryOf(pid).peak / MEBIBYTE],
      ['before', 'MiB', 0, ({ resident }) => mebibytes(resident[0])],
      [`${CALM_MS / 1000} s after the first burst`, 'MiB', 0, ({ resident }) => mebibytes(resident[1])],
      ['after the last', 'MiB', 0, ({ resident }) => mebibytes(resident.at(-1))],
    ]),
    // Of the gateway, some time after each burst.
    resident: residentOf.get(gateway)?.slice(1) ?? [],
    failed: begun - (callsOf.get(gateway)?.length ?? 0),
    // How many times as late as without a proxy the first byte of the median stream is.
    firstByteTimes: firstByteOf(gateway) / firstByteOf(direct),
    pipeFirstByteTimes: firstByteOf(pipe) / firstByteOf(direct),
  };
}

const captionOf = (streams: number, waitMs: number): string =>
  `${streams} streams at once, ${waitMs > 0 ? `the provider takes ${waitMs} ms to the first event` : 'the provider answers at once'}, ${DELTAS} events ${PAUSE_MS} ms apart`;

const mebibytes = (bytes: number | undefined) => bytes && bytes / MEBIBYTE;

const medianOf = (calls: readonly Call[], time: 'firstByteMs' | 'wholeMs'): number =>
  quantile(
    calls.map((call) => call[time]),
    0.5,
  );
