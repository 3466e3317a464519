import { type Benchmark, median, tableOf } from './benchmark.ts';
import { CASES_A_TRIAL, makeMatrix, runMatrix, SMALLEST_AGENT } from './matrix.ts';
import type { Measured } from './measured-process.ts';
import { temporaryFolder, temporaryFolderInMemory } from './temporary-folder.ts';

const SANDBOXES = ['process', 'bubblewrap'] as const;
type Name = (typeof SANDBOXES)[number];

/** What a sealed sandbox costs a case, over one that only holds processes together. */
export const sandbox: Benchmark = async ({ size, say }) => {
  const [trials, rounds] = size === 'quick' ? [1, 1] : [2, 10];
  const cases = trials * CASES_A_TRIAL;
  using folder = temporaryFolderInMemory();
  using process = temporaryFolder();
  using bubblewrap = temporaryFolder();
  const folders: Record<Name, string> = { process: process.path, bubblewrap: bubblewrap.path };
  for (const name of SANDBOXES) await makeMatrix(folders[name], SMALLEST_AGENT, { sandbox: name });
  const uses: Record<Name, Measured[]> = { process: [], bubblewrap: [] };
  for (let round = 1; round <= rounds; round++) {
    say(`${cases} cases in each sandbox, one at a time, round ${round} of ${rounds}`);
    const order = round % 2 === 0 ? SANDBOXES.toReversed() : SANDBOXES;
    for (const name of order) {
      uses[name].push(await runMatrix(folders[name], ['--trials', String(trials), '--jobs', '1']));
    }
  }

  const perCase = (name: Name, what: (use: Measured) => number) =>
    (1000 * median(uses[name].map(what))) / cases;
  const own = ({ cpuSeconds }: Measured) => cpuSeconds;
  const children = ({ childrenCpuSeconds }: Measured) => childrenCpuSeconds;
  const wall = ({ wallSeconds }: Measured) => wallSeconds;
  // Of the pairs, so that what else the machine does meets both sides of a difference.
  const added = (what: (use: Measured) => number) =>
    (1000 * median(uses.bubblewrap.map((use, round) => what(use) - what(uses.process[round] ?? use)))) /
    cases;
  const table = tableOf(
    'Per case',
    SANDBOXES.map((name) => ({ subject: name })),
    [
      ['wall', 'ms', 1, ({ subject }) => perCase(subject as Name, wall)],
      ['own CPU', 'ms', 1, ({ subject }) => perCase(subject as Name, own)],
      ['CPU of children', 'ms', 1, ({ subject }) => perCase(subject as Name, children)],
    ],
  );
  const addedCpu = added((use) => own(use) + children(use));
  return {
    method: `Median of ${rounds} rounds, in which the sandboxes take turns in alternating order, each with ${cases} cases (1 agent × 10 tasks × 2 variants × ${trials} trials) on a repository of 200 files, one at a time; the agent is \`sh -c '${SMALLEST_AGENT}'\`, the validation \`true\`. What is added is the median of the differences within a round. Start and end of the program are part of it.`,
    tables: [table],
    aims: [
      { what: 'wall time added per case', measured: added(wall), below: 40, unit: 'ms', digits: 1 },
      { what: 'CPU added per case', measured: addedCpu, below: 25, unit: 'ms', digits: 1 },
    ],
    notes: [
      'A case starts two commands in two sandboxes: the agent, and the validation in the clean room.',
      ...(folder.isInMemory ? ['Everything is in memory (`/dev/shm`).'] : []),
    ],
  };
};
