import { join } from 'node:path';
import { type Benchmark, MEBIBYTE, tableOf } from './benchmark.ts';
import type { EnvironmentMeasurements } from './measure-environments.ts';
import { runNode } from './run-node.ts';

const PROGRAM = join(import.meta.dirname, 'measure-environments.ts');

/** What a case costs that needs many packages: installed in each case, and prepared once. */
export const environments: Benchmark = async ({ size, say }) => {
  const rounds = size === 'quick' ? 1 : 7;
  say('installing a project of Next, MUI, TypeScript, ESLint and Vitest');
  const measured = await runNode<EnvironmentMeasurements>(PROGRAM, [rounds], {
    // It installs 37,000 files three times.
    limitMinutes: 45,
  });
  const { figures, files, prepareSeconds, againSeconds, strategy } = measured;
  const [prepared] = figures;
  return {
    method: `A project with ${files.toLocaleString('en')} files and folders in node_modules. A case makes its workspace (with \`setup\`, it also runs \`npm install\`, once, with a lock file and an empty download cache), writes one file as a small setup, and rebases; then an agent edits a file and writes into node_modules.`,
    tables: [
      tableOf(`Per case, by ${strategy}`, figures, [
        ['until the agent can start', 'ms', 1, ({ readyMs }) => readyMs],
        ['CPU of that', 'ms', 0, ({ cpuMs }) => cpuMs],
        ['rebase after a small setup', 'ms', 0, ({ rebaseMs }) => rebaseMs],
        ['changes', 'ms', 0, ({ changesMs }) => changesMs],
        ['disk', 'MiB', 2, ({ diskBytes }) => diskBytes / MEBIBYTE],
      ]),
      tableOf(
        'Once',
        [{ subject: 'environment.prepare' }],
        [
          ['prepare', 's', 1, () => prepareSeconds],
          ['from the cache, per run', 's', 2, () => againSeconds],
        ],
      ),
    ],
    aims: prepared
      ? [
          {
            what: 'a prepared case until its agent can start',
            measured: prepared.readyMs,
            below: 50,
            unit: 'ms',
            digits: 1,
          },
          {
            what: 'disk of a prepared case',
            measured: prepared.diskBytes / 1e6,
            below: 1,
            unit: 'MB',
            digits: 2,
          },
          {
            what: 'rebase after a small setup',
            measured: prepared.rebaseMs,
            below: 1000,
            unit: 'ms',
            digits: 0,
          },
        ]
      : [],
    notes: [
      'With `setup`, the clean room of each case installs once more. Without an environment, `rebase` commits everything that was installed.',
    ],
  };
};
