/**
 * The measured process: `node repeat-program.js <loop> <rounds> <times>` works through conversations of so many rounds, one
 * after the other, and prints a `RepeatUse` as JSON. It lets go of each before the next. With `--expose-gc` it also
 * measures the heap; the collections for that distort the other figures.
 */
import { memoryOf } from '../process-use.ts';
import { CONVERSES } from './converses.ts';

export type RepeatUse = {
  /** VmRSS after each conversation minus VmRSS before it. */
  growthBytes: number[];
  /** The heap after each conversation and a collection; empty without `--expose-gc`. */
  heapBytes: number[];
};

const WARM_UP_ROUNDS = 10;

const [name = '', rounds = '', times = ''] = process.argv.slice(2);
const load = CONVERSES[name];
if (!load || times === '') throw new Error('usage: node repeat-program.js <loop> <rounds> <times>');
const converse = await load();
await converse(WARM_UP_ROUNDS);

const use: RepeatUse = { growthBytes: [], heapBytes: [] };
let before = memoryOf('self').now;
for (let time = 0; time < Number(times); time += 1) {
  await converse(Number(rounds));
  const { now } = memoryOf('self');
  use.growthBytes.push(now - before);
  before = now;
  if (!globalThis.gc) continue;
  globalThis.gc();
  use.heapBytes.push(process.memoryUsage().heapUsed);
}
console.log(JSON.stringify(use));
