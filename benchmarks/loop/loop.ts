import { present } from '@whetstone/events/present';
import { type Aim, type Benchmark, median, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { measureCold } from './cold.ts';
import type { CommandTimes } from './command-program.ts';
import type { FirstRequestTimes } from './first-request-program.ts';
import {
  growthTable,
  LOOPS,
  measureRounds,
  program,
  type RoundsMeasured,
  range,
  roundsLost,
  roundsTable,
  type Work,
} from './measure-rounds.ts';
import { installOldestNode, type OldestNode } from './oldest-node.ts';
import type { PatchTimes } from './patch-program.ts';
import { installPeers } from './peers.ts';
import { installPublished } from './published.ts';
import { repeatTable } from './repeat.ts';
import { measureResume } from './resume.ts';
import type { SearchTimes } from './search-program.ts';

/** The cost of the loop, compared with other loops over the same model and tool, and of its tools under load. */
export const loop: Benchmark = async ({ size, say }) => {
  const quick = size === 'quick';
  const missing = installPeers(say);
  const loops = LOOPS.filter(({ peer }) => !peer || missing === undefined);
  using folder = temporaryFolder();
  say('packing and installing the packages');
  const run = installPublished(folder.path);
  const rounds = async (work: Work, runs: number, taken = loops, node?: OldestNode): Promise<Rounds> => {
    say(`${work.conversations} × ${work.rounds} rounds, ${taken.length} loops, ${runs} runs`);
    const measured = await measureRounds(taken, work, { run, runs, ...present({ node: node?.path }) });
    return { work, runs, measured, ...present({ node }) };
  };
  const short = await rounds({ conversations: 1, rounds: quick ? 100 : 1_000 }, quick ? 2 : 5);
  const long = await rounds({ conversations: 1, rounds: quick ? 400 : 4_000 }, quick ? 1 : 3);
  const many = await rounds({ conversations: quick ? 10 : 100, rounds: quick ? 20 : 50 }, quick ? 1 : 2);
  const cold = await measureCold(
    loops.filter(({ name }) => name !== 'whetstone-listener'),
    {
      works: [
        { conversations: 1, rounds: quick ? 100 : 1_000, runs: quick ? 2 : 5 },
        { conversations: 1, rounds: quick ? 200 : 4_000, runs: quick ? 2 : 3 },
        { conversations: quick ? 10 : 100, rounds: 5, runs: quick ? 2 : 5 },
      ],
      run,
      say,
    },
  );
  say('resume of a long conversation, and a session without work');
  const { rest } = await measureResume({
    rounds: quick ? 400 : 4_000,
    runs: quick ? 2 : 5,
    idleSeconds: quick ? 2 : 60,
  });
  const few = loops.filter(({ name }) => ['bare', 'whetstone', 'pi-agent-core'].includes(name));
  const slow = await rounds({ ...short.work, answerMs: ANSWER_MS }, quick ? 1 : 5, few);
  const node = installOldestNode(say);
  const old = 'path' in node ? [await rounds(short.work, quick ? 1 : 5, few, node)] : [];
  const tables = [short, slow, ...old, long, many].map(roundsTableOf);
  say('the same rounds with less of V8');
  const caption = `RSS growth over ${short.work.rounds} rounds`;
  const growth = await growthTable(caption, few, short.work, { run, runs: quick ? 1 : 7 });
  const repeated = await repeatTable(few, {
    rounds: short.work.rounds,
    times: quick ? 3 : 10,
    runs: quick ? 1 : 3,
    run,
  });
  const others = [
    await firstRequest(quick ? 5 : 30, say),
    await command(quick ? 10 : 200, say),
    await largePatch(quick ? 3 : 15, say),
    ...(await largeSearch(quick ? 2_000 : 20_000, quick ? 2 : 7, say)),
  ];
  const resumed = await rest;
  return {
    method:
      'Every loop does the same work: a fake model in the same process that keeps nothing calls a tool with two ' +
      'arguments, the tool returns 230 characters, and so on until the last answer. A run is a process of its own; the ' +
      'loops take turns, the middle run is given. First it works through a conversation of 10 rounds, then through those ' +
      'that are measured. CPU is user and system time of the process with all its threads, only for the measured rounds. ' +
      'RSS growth is VmRSS right after them less VmRSS right before them, with no collection asked for; peak RSS is VmHWM ' +
      'from the start of the process; heap held is what a forced collection leaves of the measured conversations, in a ' +
      'process of its own. All loops are measured as they are published, without a compile cache. ' +
      'The cold tables are of processes that have loaded nothing; the loops take turns in alternating order.',
    tables: [...cold.tables, ...tables, growth, repeated, resumed.table, ...others],
    aims: [...cold.aims, ...aims(short, long), ...growthAims(short, slow, ...old), ...resumed.aims],
    notes: [
      ...(missing === undefined ? DIFFERENCES : [`pi-agent-core and ai were not measured: ${missing}`]),
      ...('path' in node ? [] : [`Nothing was measured on the oldest Node: ${node.missing}`]),
      'The bare loop is a floor, not a peer: a `for` loop over the stream of the model that checks nothing and tells nobody.',
      'Most of the growth of whetstone is not the conversation, of which it keeps 1.5 KB per round. V8 touches 4 MiB of its young generation for the first time. Its optimising compiler, which works beside the program, compiles what was called 400 times, and for the functions of a round that is the same moment: it frees their graphs together, at the end, and glibc keeps the memory. The table by settings of V8 takes the two away, one after the other. The table of further rounds shows that neither comes again; where it jumps, V8 has doubled its young generation, up to 16 MiB per half, or used its largest compiler for the first time.',
      'The times of `git apply`, of `rg` and of the grep tool over it include the start of a process. The grep tool has `rg` sort by path, which it does on one core, and takes 100 lines; `rg` alone prints every match in any order, on all cores.',
      ...tables.flatMap((table) => roundsLost(table, loops)),
    ],
  };
};

/** `node`: absent for that of this process. */
type Rounds = { work: Work; runs: number; measured: RoundsMeasured[]; node?: OldestNode };

const DIFFERENCES = [
  'whetstone does more in a round than its peers do here: the tools of a profile are offered beside the one that is called, calls are watched for cycles, usage is added up and looked up in a price list, budgets and limits are asked, a silent stream would be given up, and a round leaves two turns with ids and times. Without a listener its events are not made; with one, five per round. Its sessions work in a folder without Git: in a repository the first submit of each would ask git for the branch and the changes, 10 to 20 ms of CPU, which the peers do not do.',
  'pi-agent-core makes its events, eleven per round, whether or not somebody listens, and checks arguments with a compiled schema. It filters and copies the whole list of messages in each round, has no limits, prices or loop detection, and its stream stays an object of its own where the others get a web stream.',
  '`generateText` of ai calls the model without streaming, which is less work; `ToolLoopAgent.stream` streams, as whetstone and pi do. Both keep a record of each step with its messages, and both convert the whole conversation in each round.',
];

/** A model that answers at once leaves V8 no moment to compile in. No provider answers within 20 ms. */
const ANSWER_MS = 20;

const speedOf = ({ answerMs }: Work): string =>
  answerMs === undefined ? 'a model that answers at once' : `a model that takes ${answerMs} ms`;

const placeOf = ({ work, node }: Rounds): string =>
  `${speedOf(work)}${node ? `, Node ${node.version}, the oldest that is supported` : ''}`;

function roundsTableOf(all: Rounds): Table {
  const { work, runs, measured } = all;
  const { conversations, rounds } = work;
  const what =
    conversations === 1
      ? `${rounds} tool rounds in one conversation`
      : `${conversations} conversations at once, ${rounds} tool rounds each`;
  return roundsTable(`${what}, ${placeOf(all)}, ${runs} runs`, work, measured);
}

const ownOf = ({ measured }: Rounds) => measured.find(({ loop }) => loop.name === 'whetstone');

const growthAims = (...all: Rounds[]): Aim[] =>
  all.map((each) => ({
    what: `RSS growth over ${each.work.rounds} rounds, ${placeOf(each)}`,
    measured: (ownOf(each)?.middle.growthBytes ?? Number.NaN) / 1e6,
    below: 10,
    unit: 'MB',
    digits: 1,
  }));

function aims(short: Rounds, long: Rounds): Aim[] {
  const cpu = (rounds: Rounds, { middle }: RoundsMeasured) =>
    (middle.cpuSeconds * 1000) / (rounds.work.conversations * rounds.work.rounds);
  const [inShort, inLong] = [ownOf(short), ownOf(long)];
  if (!inShort || !inLong) return [];
  const count = short.work.rounds;
  const beside = (rounds: Rounds, own: RoundsMeasured): Aim[] =>
    rounds.measured
      .filter(({ loop }) => loop.peer)
      .map((peer) => ({
        what: `CPU at ${rounds.work.rounds} rounds against that of ${peer.loop.subject}`,
        measured: own.middle.cpuSeconds / peer.middle.cpuSeconds,
        below: 1,
        unit: '×',
        digits: 2,
      }));
  return [
    {
      what: `CPU per round at ${count} rounds`,
      measured: cpu(short, inShort),
      below: 0.3,
      unit: 'ms',
      digits: 3,
    },
    {
      what: `CPU per round at ${long.work.rounds} rounds against that at ${count}`,
      measured: cpu(long, inLong) / cpu(short, inShort),
      below: 1.1,
      unit: '×',
      digits: 2,
    },
    ...beside(short, inShort),
    ...beside(long, inLong),
  ];
}

async function firstRequest(submits: number, say: (line: string) => void): Promise<Table> {
  using folder = temporaryFolder();
  const rows = [];
  let megabytes = 0;
  for (const [wire, name] of [
    ['openai', 'OpenAI Responses'],
    ['anthropic', 'Anthropic Messages'],
  ]) {
    say(`time to the request with 1 MB of history, ${name}`);
    const times = await runNode<FirstRequestTimes>(program('first-request'), [wire ?? '', submits], {
      cwd: folder.path,
    });
    megabytes = times.bodyBytes / 1e6;
    for (const [subject, sent] of [
      ['whetstone, first request', [times.first]],
      ['whetstone, later ones', times.later],
      ['`JSON.stringify` and `fetch` of the same body', times.fetched],
    ] as const) {
      const headers = sent.map((time) => time.headers);
      const body = sent.map((time) => time.body);
      rows.push({ subject: `${name}: ${subject}`, headers, body });
    }
  }
  const caption = `From \`submit()\` to the request at a server in the same process, ${megabytes.toFixed(1)} MB, ${submits} submits`;
  return tableOf(caption, rows, [
    ['head has arrived', 'ms', 1, ({ headers }) => median(headers)],
    ['range', 'ms', 1, ({ headers }) => range(headers, 1)],
    ['body has arrived', 'ms', 1, ({ body }) => median(body)],
    ['range', 'ms', 1, ({ body }) => range(body, 1)],
  ]);
}

async function command(rounds: number, say: (line: string) => void): Promise<Table> {
  say('the start of a command');
  const times = await runNode<CommandTimes>(program('command'), [rounds]);
  return timesTable(`A command that does nothing, ${rounds} rounds`, [
    { subject: '`spawn` of Node', times: times.spawn },
    ...(times.inCgroup
      ? [{ subject: '`spawn` of a shell that enters a new cgroup', times: times.inCgroup }]
      : []),
    { subject: `\`exec\` of the loop${times.inCgroup ? ', in a cgroup' : ''}`, times: times.exec },
  ]);
}

const PATCHED_LINES = 50_000;

async function largePatch(rounds: number, say: (line: string) => void): Promise<Table> {
  using folder = temporaryFolder();
  const rows = [];
  for (const chunks of [1, 50]) {
    say(`a patch of ${chunks} on ${PATCHED_LINES} lines`);
    const times = await runNode<PatchTimes>(program('patch'), [PATCHED_LINES, chunks, rounds], {
      cwd: folder.path,
    });
    const changes = chunks === 1 ? '1 change' : `${chunks} changes`;
    rows.push({ subject: `whetstone apply_patch, ${changes}`, times: times.applyPatch });
    rows.push({ subject: `\`git apply\`, ${changes}`, times: times.gitApply });
  }
  return timesTable(`A patch on a file of ${PATCHED_LINES} lines, ${rounds} rounds`, rows);
}

async function largeSearch(files: number, rounds: number, say: (line: string) => void): Promise<Table[]> {
  using folder = temporaryFolder();
  say(`grep over ${files} files`);
  const searches = await runNode<SearchTimes[]>(program('search'), [files, rounds], { cwd: folder.path });
  return searches.map(({ search, times }) =>
    timesTable(
      `Search of ${files} files of 7 kB: ${search}, ${rounds} rounds`,
      Object.entries(times).map(([subject, elapsed]) => ({ subject, times: elapsed })),
    ),
  );
}

const timesTable = (caption: string, rows: { subject: string; times: number[] }[]): Table =>
  tableOf(caption, rows, [
    ['wall', 'ms', 1, ({ times }) => median(times)],
    ['range', 'ms', 1, ({ times }) => range(times, 1)],
  ]);
