import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Benchmark, MEBIBYTE, type Table } from './benchmark.ts';
import { whereWeLose } from './compare-with-peers.ts';
import type { WorkspaceMeasurements } from './measure-workspaces.ts';

/** How soon a case has a tree of its own, how soon one knows what changed in it, and what it takes on the disk. */
export const workspaceReady: Benchmark = async ({ size, say }) => {
  const sizes = size === 'quick' ? [200, 2_000] : [2_000, 20_000];
  const rounds = size === 'quick' ? 2 : 5;
  const tables: Table[] = [];
  const missing = new Set<string>();
  for (const files of sizes) {
    say(`${files} files, ${rounds} rounds`);
    const measured = await measureWorkspaces(files, rounds);
    for (const reason of measured.missing) missing.add(reason);
    tables.push(tableOf(files, measured));
  }
  return {
    method: `Median of ${rounds} rounds in which the methods take turns. A case edits 5 files, adds 2 and deletes 1; every method has to find the 8. Files are 7 kB, below \`${tmpdir()}\`.`,
    tables,
    aims: [],
    notes: [
      'First preparation is done once a commit, before the first case. Disk is what the case’s own tree, git directory and patch take after the edits.',
      'The git rows do less: their trees let the agent read (and write) the source repository, history included, and their patch comes from an index that the agent can write. whetstone compares contents from outside.',
      ...tables.flatMap(whereWeLose),
      ...[...missing].map((reason) => `Not measured: ${reason}.`),
    ],
  };
};

async function measureWorkspaces(files: number, rounds: number): Promise<WorkspaceMeasurements> {
  const script = join(import.meta.dirname, 'measure-workspaces.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(files), String(rounds)]);
  return JSON.parse(stdout);
}

function tableOf(files: number, { figures }: WorkspaceMeasurements): Table {
  return {
    caption: `${files.toLocaleString('en')} files`,
    columns: [
      { name: 'first preparation', unit: 'ms', digits: 0 },
      { name: 'create', unit: 'ms', digits: 1 },
      { name: 'changes', unit: 'ms', digits: 1 },
      { name: 'dispose', unit: 'ms', digits: 1 },
      { name: 'disk a case', unit: 'MiB', digits: 2 },
    ],
    rows: figures.map(({ method, prepareMs, createMs, changesMs, disposeMs, diskBytes }) => ({
      subject: method,
      values: [prepareMs, createMs, changesMs, disposeMs, diskBytes / MEBIBYTE],
    })),
  };
}
