import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, median, type Row, tableOf } from './benchmark.ts';
import { whereWeLose } from './compare-with-peers.ts';
import { openEvalite } from './evalite.ts';
import { installPacked } from './install-packed.ts';
import { type Measured, measureNode } from './measured-process.ts';
import { openPromptfooProvider } from './promptfoo.ts';
import { temporaryFolderInMemory } from './temporary-folder.ts';

/** CPU seconds of niceeval on two cores, as its notes in the reference say. */
const CITED = [
  { subject: 'niceeval, 200 evals', values: [181, undefined] },
  { subject: 'niceeval, 200 evals, reused', values: [170, undefined] },
];

/** Evals whose agent is a function that answers at once: what remains is the cost of the runner. */
export const evals: Benchmark = async ({ size, say }) => {
  const isQuick = size === 'quick';
  const [count, passes, trials] = isQuick ? [10, 1, 3] : [200, 5, 50];
  using folder = temporaryFolderInMemory();
  say('packing and installing whetstone');
  const program = join(installPacked(folder.path), 'whetstone/bin/whetstone.js');
  const project = makeProject(join(folder.path, 'project'), count);
  const runs = join(project, '.whetstone');
  const whetstone = (...args: string[]) => measureNode([program, ...args], { cwd: project });
  const peers = [
    openPromptfooProvider(makeFolder(folder.path, 'promptfoo'), count, say),
    openEvalite(makeFolder(folder.path, 'evalite'), count, say),
  ];
  const contenders: [string, () => Promise<Measured>][] = [
    [
      'whetstone, fresh',
      () => {
        rmSync(runs, { recursive: true, force: true });
        return whetstone('exp', '--jobs', '2');
      },
    ],
    ['whetstone, reused', () => whetstone('exp', '--jobs', '2')],
    ...peers.flatMap((peer): [string, () => Promise<Measured>][] =>
      peer.kind === 'ready' ? [[peer.name, peer.measure]] : [],
    ),
  ];
  const results = new Map(contenders.map(([subject]) => [subject, [] as Measured[]]));
  // One unmeasured pass fills the caches of compiled code. The contenders alternate.
  for (let pass = 0; pass <= passes; pass++) {
    say(`pass ${pass} of ${passes}`);
    for (const [subject, measure] of contenders) {
      const measured = await measure();
      if (pass > 0) results.get(subject)?.push(measured);
    }
  }
  say(`making ${count * trials} cases`);
  await whetstone('exp', '--runs', String(trials), '--jobs', '2', '--rerun', 'all');
  say('judging them anew');
  const latest =
    readdirSync(join(runs, 'runs'))
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1) ?? '';
  const rescored = await whetstone('rescore', latest);

  const table = tableOf(
    `${count} evals`,
    [...results].map(([subject, all]) => ({ subject, cpu: median(all.map(cpuOf)), wall: wallOf(all) })),
    [
      ['CPU', 's', 2, ({ cpu }) => cpu],
      ['wall', 's', 2, ({ wall }) => wall],
    ],
    CITED satisfies Omit<Row, 'origin'>[],
  );
  const again = tableOf(
    `${count * trials} stored cases`,
    [{ subject: 'whetstone rescore', measured: rescored }],
    [
      ['CPU', 's', 2, ({ measured }) => cpuOf(measured)],
      ['wall', 's', 2, ({ measured }) => measured.wallSeconds],
    ],
  );
  const cpuOfAll = (subject: string) => median((results.get(subject) ?? []).map(cpuOf));
  const aim = (what: string, measured: number, below: number) => ({
    what,
    measured,
    below,
    unit: 's',
    digits: 2,
  });
  return {
    method:
      `Runs ${count} evals, each in a file of its own with one assertion, of an agent that answers at once: the command as a user installs it, two at a time, ` +
      `with everything that it starts. The median of ${passes} passes, in which the programs alternate; then ${count * trials} stored cases are judged anew.`,
    tables: [table, again],
    aims: [
      aim(`CPU of ${count} evals`, cpuOfAll('whetstone, fresh'), 3),
      aim(`CPU of ${count} evals, reused`, cpuOfAll('whetstone, reused'), 1),
      aim(`CPU of ${count * trials} stored cases judged anew`, cpuOf(rescored), 10),
      aim(`wall of ${count * trials} stored cases judged anew`, rescored.wallSeconds, 10),
    ],
    notes: [
      folder.isInMemory ? 'All files are in memory.' : 'The files are on a disk.',
      'promptfoo and evalite have their rows in one file, and a function in place of the agent; promptfoo keeps its rows in a database, evalite in memory only, and Whetstone a folder per case.',
      'evalite is the preview of version 1: version 0.19 keeps its rows in better-sqlite3, which has no compiled part on npm.',
      ...peers.flatMap((peer) =>
        peer.kind === 'missing' ? [`${peer.name} was not measured: ${peer.reason}`] : [],
      ),
      ...whereWeLose(table),
    ],
  };
};

const cpuOf = ({ cpuSeconds, childrenCpuSeconds }: Measured): number => cpuSeconds + childrenCpuSeconds;
const wallOf = (all: readonly Measured[]): number => median(all.map(({ wallSeconds }) => wallSeconds));

function makeFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

const EVAL = `
import { defineEval, includes } from 'whetstone';
export default defineEval({
  async test(t) {
    t.check((await t.send('Do nothing.')).reply, includes('finished'));
  },
});
`;

const EXPERIMENT = `
import { defineExperiment } from 'whetstone';
import { defineAgent } from 'whetstone/adapter';
export default defineExperiment({
  agent: defineAgent({
    name: 'noop',
    send: async () => ({ status: 'completed', events: [{ type: 'message', role: 'assistant', text: 'finished' }] }),
  }),
});
`;

function makeProject(root: string, count: number): string {
  makeFolder(root, 'evals');
  makeFolder(root, 'experiments');
  for (let number = 1; number <= count; number++) writeFileSync(join(root, `evals/e${number}.eval.ts`), EVAL);
  writeFileSync(join(root, 'experiments/noop.ts'), EXPERIMENT);
  return root;
}
