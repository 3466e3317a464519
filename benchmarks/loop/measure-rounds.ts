import { join } from 'node:path';
import { MEBIBYTE, median, type Table, tableOf } from '../benchmark.ts';
import { whereWeLose } from '../compare-with-peers.ts';
import type { RoundsUse } from './converse-program.ts';
import { PEER_VERSIONS } from './peers.ts';
import type { RunPublished } from './published.ts';

export type Loop = { name: string; subject: string; peer?: true };

const {
  '@earendil-works/pi-agent-core': PI,
  '@mariozechner/pi-agent-core': FIRST_PI,
  ai: AI,
} = PEER_VERSIONS;

export const LOOPS: readonly Loop[] = [
  { name: 'bare', subject: 'bare loop' },
  { name: 'whetstone', subject: 'whetstone' },
  { name: 'whetstone-listener', subject: 'whetstone with a listener' },
  { name: 'pi-agent-core', subject: `pi-agent-core ${PI}`, peer: true },
  { name: 'pi-agent-core-0.73', subject: `pi-agent-core ${FIRST_PI}`, peer: true },
  { name: 'ai-generate-text', subject: `ai ${AI} \`generateText\``, peer: true },
  { name: 'ai-tool-loop-agent', subject: `ai ${AI} \`ToolLoopAgent.stream\``, peer: true },
];

/** `answerMs`: how long the model takes to answer, in milliseconds; default 0. */
export type Work = { conversations: number; rounds: number; answerMs?: number };

/** `ToolLoopAgent` converts the whole conversation in each round: twelve seconds of CPU for 4,000 rounds, which say no more. */
export const takesPart = ({ name }: Loop, { rounds }: Work): boolean =>
  name !== 'ai-tool-loop-agent' || rounds <= 1000;

/** Several runs and their medians. */
export type RoundsMeasured = { loop: Loop; runs: RoundsUse[]; middle: RoundsUse };

/**
 * Measures the same work with each loop, `runs` times in turns, each time in a new process. The heap has a process of its
 * own. `flags` are for V8. `node`: default that of this process.
 */
export async function measureRounds(
  loops: readonly Loop[],
  work: Work,
  {
    run,
    runs: count,
    flags = [],
    heap = true,
    node,
  }: { run: RunPublished; runs: number; flags?: readonly string[]; heap?: boolean; node?: string },
): Promise<RoundsMeasured[]> {
  const converse = ({ name }: Loop, flags: readonly string[]) =>
    run<RoundsUse>('converse', [name, work.conversations, work.rounds, work.answerMs ?? 0], flags, node);
  const taken = loops.filter((loop) => takesPart(loop, work));
  const runs = new Map(taken.map((loop) => [loop, [] as RoundsUse[]]));
  for (let turn = 0; turn < count; turn += 1) {
    for (const [loop, uses] of runs) uses.push(await converse(loop, flags));
  }
  const measured: RoundsMeasured[] = [];
  for (const [loop, uses] of runs) {
    const held = heap ? await converse(loop, [...flags, '--expose-gc']) : undefined;
    measured.push({
      loop,
      runs: uses,
      middle: { ...middleOf(uses), heapBytes: held?.heapBytes },
    });
  }
  return measured;
}

/** The path of one of the programs of this folder. */
export const program = (name: 'command' | 'first-request' | 'patch' | 'resume' | 'search'): string =>
  join(import.meta.dirname, `${name}-program.ts`);

function middleOf(uses: readonly RoundsUse[]): Omit<RoundsUse, 'heapBytes'> {
  return {
    cpuSeconds: median(uses.map((use) => use.cpuSeconds)),
    wallSeconds: median(uses.map((use) => use.wallSeconds)),
    growthBytes: median(uses.map((use) => use.growthBytes)),
    peakBytes: median(uses.map((use) => use.peakBytes)),
  };
}

export function roundsTable(
  caption: string,
  { conversations, rounds }: Work,
  measured: readonly RoundsMeasured[],
): Table {
  const perRound = (seconds: number) => (seconds * 1000) / (conversations * rounds);
  const items = measured.map(({ loop, ...rest }) => ({ subject: loop.subject, ...rest }));
  return tableOf(caption, items, [
    ['CPU per round', 'ms', 3, ({ middle }) => perRound(middle.cpuSeconds)],
    [
      'range',
      'ms',
      3,
      ({ runs }) =>
        range(
          runs.map(({ cpuSeconds }) => perRound(cpuSeconds)),
          3,
        ),
    ],
    ['wall', 's', 2, ({ middle }) => middle.wallSeconds],
    ['RSS growth', 'MiB', 1, ({ middle }) => middle.growthBytes / MEBIBYTE],
    ['range', 'MiB', 1, ({ runs }) => range(growthOf(runs), 1)],
    ['peak RSS', 'MiB', 0, ({ middle }) => middle.peakBytes / MEBIBYTE],
    ['heap held', 'MiB', 1, ({ middle: { heapBytes } }) => heapBytes && heapBytes / MEBIBYTE],
  ]);
}

const growthOf = (runs: readonly RoundsUse[]): number[] =>
  runs.map(({ growthBytes }) => growthBytes / MEBIBYTE);

/** How much of the growth is V8's own: the same work with restrictions on V8. */
export async function growthTable(
  caption: string,
  loops: readonly Loop[],
  work: Work,
  { run, runs }: { run: RunPublished; runs: number },
): Promise<Table> {
  const measured: RoundsMeasured[][] = [];
  for (const { flags } of V8_SETTINGS)
    measured.push(await measureRounds(loops, work, { run, runs, flags, heap: false }));
  return {
    caption,
    columns: V8_SETTINGS.flatMap(({ name }) => [
      { name, unit: 'MiB', digits: 1 },
      { name: 'range', unit: 'MiB', digits: 1 },
    ]),
    rows: loops.map((loop, index) => ({
      subject: loop.subject,
      values: measured.flatMap((each) => {
        const growth = growthOf(each[index]?.runs ?? []);
        return [median(growth), range(growth, 1)];
      }),
    })),
  };
}

const V8_SETTINGS = [
  { name: 'V8 as it comes', flags: [] },
  { name: 'with compilers that do not work beside the program', flags: ['--no-concurrent-recompilation'] },
  {
    name: 'and with half-spaces of at most 4 MiB',
    flags: ['--no-concurrent-recompilation', '--max-semi-space-size=4'],
  },
];

/** Where a peer needs less than our loop without a listener. The bare loop is not a peer but a lower bound. */
export function roundsLost(table: Table, loops: readonly Loop[]): string[] {
  const compared = loops.filter(({ name, peer }) => peer || name === 'whetstone');
  const rows = table.rows.filter((row) => compared.some(({ subject }) => subject === row.subject));
  return whereWeLose({ ...table, rows });
}

export function range(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;
}
