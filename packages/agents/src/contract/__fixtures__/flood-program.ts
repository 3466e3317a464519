/** Lets the agent of a row print 200 MB in a separate process, and prints the memory that this took as JSON. */
import { contractRows } from './rows.ts';
import { openStage } from './stage.ts';

export type Flood = {
  status: string;
  /** The last message is among the events, or the telemetry says that events are missing. */
  saidLastOrSaysNot: boolean;
  /** Size of the events. */
  keptMegabytes: number;
  /** The largest growth of resident memory. */
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
