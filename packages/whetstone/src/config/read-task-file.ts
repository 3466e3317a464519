import { checkTaskDemands } from './check-agent-abilities.ts';
import { checkShape, isMapping, warnUnknownKeys } from './check-shape.ts';
import type { Config, TaskConfig } from './config.ts';
import type { Diagnostic } from './diagnostic.ts';
import { openYaml } from './open-yaml.ts';
import { readTask } from './read-task.ts';
import { taskFileSchema } from './schema.ts';
import { createSpot } from './spot.ts';
import type { YamlSource } from './yaml-source.ts';

/** Reads all tasks of a file, and checks that every agent can do them. `undefined` if there is no readable file. */
export async function readTaskFile(
  file: string,
  { evaluation, agents }: Pick<Config, 'evaluation' | 'agents'>,
  diagnostics: Diagnostic[],
): Promise<{ tasks: TaskConfig[]; source: YamlSource } | undefined> {
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
