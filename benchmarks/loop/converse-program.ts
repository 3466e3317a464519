/**
 * The measured process: `node converse-program.ts <loop> <conversations> <rounds> [<ms>]` runs the conversations at once with
 * one of the loops and prints a `RoundsUse` as JSON. `ms`: how long the model takes in the measured rounds; default 0. With `--expose-gc` it also prints `heapBytes`; the collections for that
 * distort the other figures.
 */
import { memoryOf } from '../process-use.ts';
import { CONVERSES } from './converses.ts';
import { setAnswerMs } from './work.ts';

/** Seconds and bytes of the rounds only, without loading the loop and the warm-up. */
export type RoundsUse = {
  /** User and system time, all threads of the process: compiling and collecting garbage included. */
  cpuSeconds: number;
  wallSeconds: number;
  /** VmRSS after the rounds minus VmRSS after the warm-up. */
  growthBytes: number;
  /** VmHWM of the process from its start. */
  peakBytes: number;
  /** The heap after a collection minus the same after the warm-up: what the conversations hold. */
  heapBytes: number | undefined;
};

const WARM_UP_ROUNDS = 10;

const [name = '', conversations = '', rounds = '', answerMs = '0'] = process.argv.slice(2);
const load = CONVERSES[name];
if (!load || rounds === '')
  throw new Error('usage: node converse-program.ts <loop> <conversations> <rounds>');
const converse = await load();
await converse(WARM_UP_ROUNDS);
setAnswerMs(Number(answerMs));

const heapBefore = heapInUse();
const residentBefore = memoryOf('self').now;
const cpuBefore = process.cpuUsage();
const began = performance.now();
const held = await Promise.all(Array.from({ length: Number(conversations) }, () => converse(Number(rounds))));
const wallSeconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const { now, peak } = memoryOf('self');
const heapAfter = heapInUse();

const use: RoundsUse = {
  cpuSeconds: (user + system) / 1e6,
  wallSeconds,
  growthBytes: now - residentBefore,
  peakBytes: peak,
  heapBytes: heapBefore === undefined || heapAfter === undefined ? undefined : heapAfter - heapBefore,
};
// This use keeps the conversations alive until their heap is measured.
if (held.length === Number(conversations)) console.log(JSON.stringify(use));

function heapInUse(): number | undefined {
  if (!globalThis.gc) return undefined;
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
