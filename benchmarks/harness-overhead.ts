import { join } from 'node:path';
import { type Benchmark, median, type Row, tableOf } from './benchmark.ts';
import { whereWeLose } from './compare-with-peers.ts';
import { openContextEval } from './context-eval.ts';
import { installPacked } from './install-packed.ts';
import { CASES_A_TRIAL, makeMatrix, runMatrix, SMALLEST_AGENT } from './matrix.ts';
import type { Measured } from './measured-process.ts';
import { openPromptfoo } from './promptfoo.ts';
import { temporaryFolder, temporaryFolderInMemory } from './temporary-folder.ts';

/** The cost of the harness itself: many cases with an agent that does almost nothing. */
export const harnessOverhead: Benchmark = async ({ size, say }) => {
  const [trials, rounds] = size === 'quick' ? [1, 1] : [10, 3];
  const cases = trials * CASES_A_TRIAL;
  say('packing and installing the packages');
  using installation = temporaryFolder();
  const program = join(installPacked(installation.path), 'whetstone/bin/whetstone.js');
  using folder = temporaryFolderInMemory();
  const work = folder.path;
  await makeMatrix(work, SMALLEST_AGENT);
  const peers = [openPromptfoo(work, cases, say), openContextEval(work, trials, say)];
  const measure = () => runMatrix(work, ['--trials', String(trials), '--jobs', '2'], { program });
  const systems = [{ name: 'whetstone', measure }, ...peers.filter((peer) => peer.kind === 'ready')];
  const uses = new Map<string, Measured[]>(systems.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, measure } of systems) {
      say(`${name}, ${cases} cases, two at a time, round ${round} of ${rounds}`);
      uses.get(name)?.push(await measure());
    }
  }

  const perCase = (name: string, what: (use: Measured) => number) =>
    median((uses.get(name) ?? []).map(what)) / cases;
  const own = ({ cpuSeconds }: Measured) => cpuSeconds;
  const children = ({ childrenCpuSeconds }: Measured) => childrenCpuSeconds;
  const table = tableOf(
    'Per case',
    systems.map(({ name }) => ({ subject: name })),
    [
      ['own CPU', 's', 4, ({ subject }) => perCase(subject, own)],
      ['CPU of children', 's', 4, ({ subject }) => perCase(subject, children)],
      ['wall', 's', 3, ({ subject }) => perCase(subject, ({ wallSeconds }) => wallSeconds)],
    ],
    [NICEEVAL],
  );
  return {
    method: `Median of ${rounds} rounds in which the systems take turns, each with ${cases} cases (1 agent × 10 tasks × 2 variants × ${trials} trials) on a repository of 200 files, two at a time; the agent is \`sh -c '${SMALLEST_AGENT}'\`, the validation \`true\`. Start and end of the program are part of it. Whetstone runs as it is published, from an installation of its tarballs.`,
    tables: [table],
    aims: [
      { what: 'own CPU per case', measured: perCase('whetstone', own), below: 0.015, unit: 's', digits: 4 },
      {
        what: 'CPU of children per case',
        measured: perCase('whetstone', children),
        below: 0.02,
        unit: 's',
        digits: 4,
      },
    ],
    notes: [
      ...(folder.isInMemory
        ? ['The repository, the runs and all temporary files are in memory (`/dev/shm`), for each system.']
        : []),
      'Own CPU is user and system time of the harness process (RUSAGE_SELF). Children are all its descendants, also those that outlive it: git, mounts, the process that starts commands, the sandbox, the agent and the validation.',
      'promptfoo runs the same shell command with an `exec:` provider in a copy of the same folder that its script makes. It does less: no commit is checked out, nothing is contained, no patch is taken, and nothing is verified in a clean tree; its assertion reads what the script printed.',
      'context-eval runs the same tasks and variants from its source, by the call that its command makes. It makes a git worktree per case and validates in the tree that the agent changed: nothing is contained and there is no clean tree.',
      'niceeval needs a Docker daemon and its image, so it was not run. Its figure is for evaluations without work.',
      ...peers.flatMap((peer) =>
        peer.kind === 'missing' ? [`${peer.name} was not measured: ${peer.reason}`] : [],
      ),
      ...whereWeLose(table),
    ],
  };
};

const NICEEVAL: Omit<Row, 'origin'> = { subject: 'niceeval, 200 cases', values: [0.9] };
