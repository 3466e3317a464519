/** Lets the agent of a row print 200 MB, in a process of its own, and prints what that took of memory as JSON. */
import { contractRows } from './rows.ts';
import { openStage } from './stage.ts';

export type Flood = {
  status: string;
  /** Its last words are among the events, or its telemetry says that events are missing. */
  saidLastOrSaysNot: boolean;
  /** What of it is events. */
  keptMegabytes: number;
  /** By how much the resident memory was larger than before, at most. */
  grownMegabytes: number;
};

const MEGABYTE = 1024 * 1024;
const row = contractRows.find(({ name }) => name === process.argv[2]);
if (!row) throw new Error(`There is no row ${process.argv[2]}.`);
await using stage = await openStage(row);
await stage.play('task');
const before = process.memoryUsage.rss();
let most = before;
const sampling = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 20);
const { turn, reply, token } = await stage.play('flood', { context: { timeoutMs: 120_000 } });
clearInterval(sampling);
const flood: Flood = {
  status: turn.status,
  saidLastOrSaysNot:
    reply.includes(`Done ${token}.`) || turn.telemetry?.evidenceGaps.includes('events_truncated') === true,
  keptMegabytes: turn.events.reduce((sum, event) => sum + JSON.stringify(event).length, 0) / MEGABYTE,
  grownMegabytes: (most - before) / MEGABYTE,
};
process.stdout.write(JSON.stringify(flood));
