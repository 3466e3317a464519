import type { TaskConfig } from '../config/config.ts';
import { fingerprintTask } from '../plan/fingerprint.ts';
import { readRuns } from '../record/find-run.ts';

/** The outcomes of cases of earlier runs, of any agent. Errors are not counted, and reused results only once. */
export type EarlierResults = { passed: number; cases: number };

/** The results of tasks in the runs of a folder, by id. A run in which the task was another one does not count. */
export async function earlierResults(
  tasks: readonly TaskConfig[],
  outputDirectory: string,
): Promise<Map<string, EarlierResults>> {
  const prints = new Map<string, string>();
  for (const task of tasks) prints.set(task.id, await fingerprintTask(task));
  const found = new Map<string, EarlierResults>();
  for await (const { manifest, rows } of readRuns(outputDirectory)) {
    const same = manifest.tasks.filter(({ id, fingerprint }) => prints.get(id) === fingerprint);
    const ids = new Set(same.map(({ id }) => id));
    for (const { task_id: id, outcome, reused_from: isOld } of rows.values()) {
      if (!ids.has(id) || isOld || (outcome !== 'passed' && outcome !== 'failed')) continue;
      const { passed, cases } = found.get(id) ?? { passed: 0, cases: 0 };
      found.set(id, { passed: passed + (outcome === 'passed' ? 1 : 0), cases: cases + 1 });
    }
  }
  return found;
}
