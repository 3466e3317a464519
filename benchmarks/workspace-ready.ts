import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Benchmark, MEBIBYTE, type Table, tableOf } from './benchmark.ts';
import { whereWeLose } from './compare-with-peers.ts';
import type { WorkspaceMeasurements } from './measure-workspaces.ts';
import { runNode } from './run-node.ts';

const PROGRAM = join(import.meta.dirname, 'measure-workspaces.ts');

/** How long it takes to make a case's tree and to find its changes, and how much disk space that needs. */
export const workspaceReady: Benchmark = async ({ size, say }) => {
  const sizes = size === 'quick' ? [200, 2_000] : [2_000, 20_000];
  const rounds = size === 'quick' ? 2 : 5;
  const tables: Table[] = [];
  const missing = new Set<string>();
  for (const files of sizes) {
    say(`${files} files, ${rounds} rounds`);
    const measured = await runNode<WorkspaceMeasurements>(PROGRAM, [files, rounds]);
    for (const reason of measured.missing) missing.add(reason);
    tables.push(
      tableOf(`${files.toLocaleString('en')} files`, measured.figures, [
        ['first preparation', 'ms', 0, ({ prepareMs }) => prepareMs],
        ['create', 'ms', 1, ({ createMs }) => createMs],
        ['changes', 'ms', 1, ({ changesMs }) => changesMs],
        ['dispose', 'ms', 1, ({ disposeMs }) => disposeMs],
        ['disk per case', 'MiB', 2, ({ diskBytes }) => diskBytes / MEBIBYTE],
      ]),
    );
  }
  return {
    method: `Median of ${rounds} rounds in which the methods take turns. A case edits 5 files, adds 2 and deletes 1; every method must find these 8 changes. Files have 7 kB and are below \`${tmpdir()}\`.`,
    tables,
    aims: [],
    notes: [
      'The first preparation happens once per commit, before the first case. Disk is the space of the case’s own tree, git directory and patch after the edits.',
      'The git rows do less: their trees let the agent read (and write) the source repository, history included, and their patch comes from an index that the agent can write. whetstone compares contents from outside.',
      ...tables.flatMap(whereWeLose),
      ...[...missing].map((reason) => `Not measured: ${reason}.`),
    ],
  };
};
