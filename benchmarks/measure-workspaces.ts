/**
 * `node measure-workspaces.ts FILES ROUNDS`: prints the figures of every way to make a workspace as JSON. It runs in a
 * process and a mount namespace of its own, like `whetstone run`.
 */
import { mkdirSync } from 'node:fs';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { enterPrivateMountNamespace } from '../packages/whetstone/src/workspace/mount-namespace.ts';
import { median } from './benchmark.ts';
import { makeRepository, pathOf } from './make-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';
import {
  diskUsed,
  gitWorktree,
  ourWorkspaces,
  sharedClone,
  type WorkspaceMethod,
} from './workspace-methods.ts';

/** Times are milliseconds, medians of the rounds; `prepareMs` is the one first preparation. */
export type WorkspaceFigures = {
  subject: string;
  prepareMs?: number;
  createMs: number;
  changesMs: number;
  disposeMs: number;
  diskBytes: number;
};

export type WorkspaceMeasurements = { figures: WorkspaceFigures[]; missing: string[] };

type Sample = Omit<WorkspaceFigures, 'subject' | 'prepareMs'>;

enterPrivateMountNamespace();
const [files = 0, rounds = 0] = process.argv.slice(2).map(Number);
using folder = temporaryFolder();
console.log(JSON.stringify(await measure(folder.path)));

async function measure(work: string): Promise<WorkspaceMeasurements> {
  const repository = join(work, 'repository');
  const commit = await makeRepository(repository, files);
  const place = (name: string) => {
    const folder = join(work, name);
    mkdirSync(folder);
    return { repository, commit, folder };
  };
  const missing: string[] = [];
  const methods: { method: WorkspaceMethod; folder: string; prepareMs?: number; samples: Sample[] }[] = [];
  for (const strategy of ['mount', 'copy'] as const) {
    const where = place(strategy);
    try {
      const method = await ourWorkspaces(strategy, where);
      const prepareMs = await milliseconds(async () => await method.prepare?.());
      methods.push({ method, folder: where.folder, prepareMs, samples: [] });
    } catch (error) {
      if (!(error instanceof WhetstoneError)) throw error;
      missing.push(`${strategy}: ${error.message}`);
    }
  }
  for (const make of [gitWorktree, sharedClone]) {
    const where = place(make.name);
    methods.push({ method: make(where), folder: where.folder, samples: [] });
  }

  for (let round = 0; round < rounds; round++) {
    for (const { method, folder, samples } of methods) samples.push(await sample(method, folder));
  }
  for (const { method } of methods) await method.close();

  return {
    missing,
    figures: methods.map(({ method, prepareMs, samples }) => ({
      subject: method.name,
      ...(prepareMs === undefined ? {} : { prepareMs }),
      createMs: median(samples.map(({ createMs }) => createMs)),
      changesMs: median(samples.map(({ changesMs }) => changesMs)),
      disposeMs: median(samples.map(({ disposeMs }) => disposeMs)),
      diskBytes: median(samples.map(({ diskBytes }) => diskBytes)),
    })),
  };
}

/** The life of one case's tree. */
async function sample(method: WorkspaceMethod, folder: string): Promise<Sample> {
  const before = diskUsed(folder);
  const created = performance.now();
  const tree = await method.create();
  const createMs = performance.now() - created;
  const edited = await editTree(tree.path);
  const diffed = performance.now();
  const found = await tree.changes();
  const changesMs = performance.now() - diffed;
  if (found !== edited) throw new Error(`${method.name} found ${found} of ${edited} changed files`);
  const diskBytes = diskUsed(folder) - before;
  const disposeMs = await milliseconds(() => tree.dispose());
  return { createMs, changesMs, disposeMs, diskBytes };
}

/** Edits five files, adds two, deletes one. Resolves with the number of changes. */
async function editTree(path: string): Promise<number> {
  for (const index of [0, 1, 2, 3, 4]) await appendFile(join(path, pathOf(index * 11)), 'edited\n');
  for (const name of ['added-1.txt', 'added-2.txt']) await writeFile(join(path, name), `${name}\n`);
  await rm(join(path, pathOf(7)));
  return 8;
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
