import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TaskConfig } from '../config/config.ts';
import { readTaskFolder } from '../config/read-task-file.ts';
import { type Provenance, TASK_PARTS } from './write-task.ts';

/** A mined task as a reviewer sees it. */
export type MinedTask = {
  folder: string;
  id: string;
  task: TaskConfig;
  /** `null`: the task was not mined. */
  provenance: Provenance | null;
  /** Of the patch that solves it. */
  goldPatch: string;
};

export async function readMinedTask(folder: string): Promise<MinedTask> {
  const task = await readTaskFolder(folder);
  const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => '');
  const provenance = await read(TASK_PARTS.provenance);
  return {
    ...{ folder, id: basename(folder), task },
    provenance: provenance === '' ? null : JSON.parse(provenance),
    goldPatch: await read(TASK_PARTS.goldPatch),
  };
}

/** Notes that a person has kept the task. */
export async function keepTask({ folder, provenance }: MinedTask, now: Date): Promise<void> {
  if (!provenance) return;
  const kept = { ...provenance, kept: now.toISOString() };
  await writeFile(join(folder, TASK_PARTS.provenance), `${JSON.stringify(kept, null, 2)}\n`);
}
