import { resolve } from 'node:path';
import { checkTaskDemands } from './check-agent-abilities.ts';
import { checkShape, isMapping, warnUnknownKeys } from './check-shape.ts';
import type { Config, TaskConfig } from './config.ts';
import type { Diagnostic } from './diagnostic.ts';
import { existingPath } from './existing-path.ts';
import { openYaml } from './open-yaml.ts';
import { readTask } from './read-task.ts';
import { taskFileSchema } from './schema.ts';
import { createSpot, type Spot } from './spot.ts';
import type { YamlSource } from './yaml-source.ts';

export type TaskFile = { file: string; named: 'by-config' | 'on-command-line' };

/** `undefined` if `tasks` is set but wrong: the default file would only add a misleading second error. */
export function locateTaskFile(
  root: Record<string, unknown>,
  tasks: string | null | undefined,
  { tasksFile, cwd = process.cwd() }: { tasksFile?: string; cwd?: string },
  directory: string,
): TaskFile | undefined {
  if (tasksFile !== undefined) return { file: resolve(cwd, tasksFile), named: 'on-command-line' };
  if (tasks == null && root.tasks != null) return undefined;
  return { file: resolve(directory, tasks ?? 'tasks.yaml'), named: 'by-config' };
}

/** Reads all tasks of a file, and checks that every agent can do them. `undefined` if there is no readable file. */
export async function readTaskFile(
  { file, named }: TaskFile,
  { evaluation, agents }: Pick<Config, 'evaluation' | 'agents'>,
  configSpot: Spot,
  diagnostics: Diagnostic[],
): Promise<{ tasks: TaskConfig[]; source: YamlSource } | undefined> {
  if (named === 'by-config' && !existingPath(file, configSpot.at('tasks'), 'file')) return undefined;
  const source = await openYaml(file, diagnostics);
  if (!source || source.value === undefined) return undefined;
  const root = createSpot(source, diagnostics);
  warnUnknownKeys(taskFileSchema, source.value, root);
  const entries = checkShape(taskFileSchema, source.value, root)?.tasks ?? [];
  const tasks: TaskConfig[] = [];
  const seen = new Map<string, number>();
  for (const [index, raw] of entries.entries()) {
    const spot = root.at('tasks', index);
    const id = isMapping(raw) && typeof raw.id === 'string' ? raw.id.trim() : '';
    const earlier = seen.get(id);
    if (id !== '' && earlier !== undefined) {
      spot.at('id').error('duplicate task id', { hint: `tasks[${earlier}] has the same id` });
    }
    if (earlier === undefined) seen.set(id, index);
    const task = await readTask(raw, evaluation, spot);
    if (!task) continue;
    checkTaskDemands(task, agents, spot);
    tasks.push(task);
  }
  return { tasks, source };
}
