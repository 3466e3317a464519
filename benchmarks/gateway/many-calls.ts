import { MEBIBYTE, type Row } from '../benchmark.ts';
import { memoryOf } from '../process-use.ts';
import type { Measurement } from './calls.ts';
import type { GatewayOrder, LaneKind } from './gateway-program.ts';
import { nextLane, startGateway } from './hops.ts';
import { type Program, startProgram } from './program.ts';

const AT_ONCE = 8;
/** About as many as an attempt may have. */
const CALLS_OF_A_LANE = 100;

/** Whether the gateway stays fast and small over many calls, one lane after the other. */
export async function measureManyCalls(options: { bodyBytes: number; calls: number }) {
  const { bodyBytes, calls } = options;
  await using upstream = await startProgram<string>('upstream', { deltas: 20, pauseMs: 0 });
  const scripted = await measureMode('script', { kind: 'script', keeps: true }, options);
  const forwarded = await measureMode(
    'forward',
    { kind: 'forward', keeps: true, upstream: upstream.ready },
    options,
  );
  const marks = marksOf(calls);
  return {
    table: {
      caption: `${calls} calls, ${bodyBytes / 1000} KB, ${AT_ONCE} at once, a new lane every ${CALLS_OF_A_LANE}`,
      columns: [
        { name: 'calls per second', unit: '1/s', digits: 0 },
        ...marks.map((mark) => ({
          name: `most resident, ${windowBefore(mark, calls)}`,
          unit: 'MiB',
          digits: 0,
        })),
        ...marks.map((mark) => ({ name: `live after ${mark}`, unit: 'MiB', digits: 1 })),
      ],
      rows: [scripted.row, forwarded.row],
    },
    // Of the scripted calls: bytes in the windows that end after a tenth, a half and the whole of them.
    resident: scripted.resident,
    live: scripted.live,
  };
}

const marksOf = (calls: number): number[] => [calls / 10, calls / 2, calls];

/** Between two marks: garbage waits for its collection, so resident memory goes up and down within a thousand calls. */
function windowBefore(mark: number, calls: number): string {
  const before = marksOf(calls).findLast((earlier) => earlier < mark) ?? 0;
  return `calls ${before + 1} to ${mark}`;
}

async function measureMode(
  subject: string,
  lane: LaneKind,
  options: { bodyBytes: number; calls: number },
): Promise<{ row: Row; resident: number[]; live: number[] }> {
  // Live memory is only known after a collection, which changes resident memory. So each has its own run.
  const first = await callMany(lane, options, async ({ mostResident }) => mostResident);
  const second = await callMany(lane, options, ({ gateway }) =>
    gateway.ask<number>({ order: 'live' } satisfies GatewayOrder),
  );
  const megabytes = [...first.looks, ...second.looks].map((bytes) => bytes / MEBIBYTE);
  return {
    row: { subject, values: [(1000 * options.calls) / first.wallMs, ...megabytes] },
    resident: first.looks,
    live: second.looks,
  };
}

/** `mostResident`: since the last look, in bytes. */
type Moment = { gateway: Program; mostResident: number };

/** Calls `look` after a tenth, a half and all of the calls. */
async function callMany(
  lane: LaneKind,
  { bodyBytes, calls }: { bodyBytes: number; calls: number },
  look: (moment: Moment) => Promise<number>,
): Promise<{ wallMs: number; looks: number[] }> {
  await using client = await startProgram('client', {});
  await using gateway = await startGateway(lane);
  const looks: number[] = [];
  let { target } = gateway;
  let wallMs = 0;
  let mostResident = 0;
  for (let made = 0; made < calls; ) {
    const job = {
      targets: [target],
      bodyBytes,
      calls: Math.min(CALLS_OF_A_LANE, calls / 10),
      atOnce: AT_ONCE,
    };
    const measurement = await client.ask<Measurement>(job);
    const [failure] = measurement.failures;
    if (failure !== undefined) throw new Error(failure);
    made += job.calls;
    wallMs += measurement.wallMs;
    mostResident = Math.max(mostResident, memoryOf(gateway.pid).now);
    if (marksOf(calls).includes(made)) {
      looks.push(await look({ gateway, mostResident }));
      mostResident = 0;
    }
    target = await nextLane(gateway);
  }
  return { wallMs, looks };
}
