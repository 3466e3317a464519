import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
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

/** @throws WhetstoneError `config-invalid` */
export async function readMinedTask(folder: string): Promise<MinedTask> {
  const task = await readTaskFolder(folder);
  return {
    ...{ folder, id: basename(folder), task },
    provenance: await readProvenance(folder),
    goldPatch: await readPart(folder, TASK_PARTS.goldPatch),
  };
}

/**
 * Where the task of a folder comes from; `null`: it was not mined.
 * @throws WhetstoneError `config-invalid`
 */
export async function readProvenance(folder: string): Promise<Provenance | null> {
  const text = await readPart(folder, TASK_PARTS.provenance);
  try {
    return text === '' ? null : JSON.parse(text);
  } catch (error) {
    throw new WhetstoneError('config-invalid', `The file is not JSON: ${messageOf(error)}.`, {
      where: join(folder, TASK_PARTS.provenance),
      hint: 'Restore it. Without the file, the task counts as one that was not mined.',
    });
  }
}

const readPart = (folder: string, name: string): Promise<string> =>
  readFile(join(folder, name), 'utf8').catch(() => '');

/** Notes that a person has kept the task. */
export async function keepTask({ folder, provenance }: MinedTask, now: Date): Promise<void> {
  if (!provenance) return;
  const kept = { ...provenance, kept: now.toISOString() };
  await writeFile(join(folder, TASK_PARTS.provenance), `${JSON.stringify(kept, null, 2)}\n`);
}
