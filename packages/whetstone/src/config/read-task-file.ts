import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { checkTaskDemands } from './check-agent-abilities.ts';
import { checkShape, isMapping, warnUnknownKeys } from './check-shape.ts';
import type { Config, TaskConfig } from './config.ts';
import { ConfigErrors, type Diagnostic, inFileOrder } from './diagnostic.ts';
import { existingPath } from './existing-path.ts';
import { openSource } from './open-source.ts';
import { openYaml } from './open-yaml.ts';
import { readTask } from './read-task.ts';
import { taskFileSchema } from './schema.ts';
import { createSpot, type Spot } from './spot.ts';
import type { YamlPath, YamlSource } from './yaml-source.ts';

/** The file of a task that has a folder of its own. */
export const TASK_FILE = 'task.yaml';

/** The journal that mining keeps beside the tasks that it makes. It names the commits that they come from. */
export const MINING_JOURNAL = 'mined.jsonl';

export type TaskFile = {
  /** Those of the file itself, then those of the folders that it includes, sorted by name. */
  tasks: TaskConfig[];
  source: YamlSource;
  /** The folders of the included tasks, absolute. */
  included: string[];
  /** The journals of mining beside them, absolute. */
  journals: string[];
  /** Where the path of a task, `tasks[<index>]…`, stands. */
  placeOf: (path: YamlPath) => { yaml: YamlSource; path: YamlPath };
};

/** Reads all tasks of a file, and checks that every agent can do them. `undefined` if there is no readable file. */
export async function readTaskFile(
  file: string,
  { evaluation, agents }: Pick<Config, 'evaluation' | 'agents'>,
  diagnostics: Diagnostic[],
): Promise<TaskFile | undefined> {
  const source = await openSource(file, diagnostics);
  if (!source || source.value === undefined) return undefined;
  const root = createSpot(source, diagnostics);
  warnUnknownKeys(taskFileSchema, source.value, root);
  const shape = checkShape(taskFileSchema, source.value, root);
  const included = (shape?.include ?? []).flatMap((path, index) =>
    includedFolders(path, root.at('include', index)),
  );
  const entries: { raw: unknown; yaml: YamlSource; path: YamlPath }[] = (shape?.tasks ?? []).map(
    (raw, index) => ({ raw, yaml: source, path: ['tasks', index] }),
  );
  for (const folder of included) {
    const yaml = await openYaml(join(folder, TASK_FILE), diagnostics);
    if (yaml?.value !== undefined) entries.push({ raw: yaml.value, yaml, path: [] });
  }
  if (shape && entries.length === 0) root.error('at least one task is required', { mark: 'key' });
  const tasks: TaskConfig[] = [];
  const places: typeof entries = [];
  const seen = new Map<string, string>();
  for (const entry of entries) {
    const spot = createSpot(entry.yaml, diagnostics, entry.path);
    const shown = entry.path.length === 0 ? entry.yaml.file : `tasks[${entry.path[1]}]`;
    checkId(entry.raw, shown, seen, spot);
    const task = await readTask(entry.raw, evaluation, spot);
    if (!task) continue;
    checkTaskDemands(task, agents, spot);
    tasks.push(task);
    places.push(entry);
  }
  const placeOf: TaskFile['placeOf'] = ([, index, ...rest]) => {
    const place = places[Number(index)];
    return place ? { yaml: place.yaml, path: [...place.path, ...rest] } : { yaml: source, path: [] };
  };
  const journals = [...new Set(included.map((folder) => join(dirname(folder), MINING_JOURNAL)))];
  return { tasks, source, included, journals: journals.filter((one) => existsSync(one)), placeOf };
}

/**
 * Reads the task of a folder by itself. `warnings` gets what is odd in it.
 * @throws ConfigErrors with everything that is wrong in it
 */
export async function readTaskFolder(folder: string, warnings: Diagnostic[] = []): Promise<TaskConfig> {
  const diagnostics: Diagnostic[] = [];
  const yaml = await openYaml(join(folder, TASK_FILE), diagnostics);
  const task = yaml && (await readTask(yaml.value, { commands: [] }, createSpot(yaml, diagnostics)));
  const wrong = diagnostics.some(({ severity }) => severity === 'error');
  if (wrong || !task) throw new ConfigErrors(inFileOrder(diagnostics));
  warnings.push(...inFileOrder(diagnostics));
  return task;
}

/** The folder itself if it has a task, else the folders in it that have one, sorted by name. */
export const taskFoldersIn = (folder: string): string[] =>
  foldersWith(TASK_FILE, folder, {
    message: 'The folder has no task.',
    hint: `A task is a folder with a ${TASK_FILE}. \`whetstone tasks mine\` makes some.`,
  });

/**
 * The folder itself if it has the file `name`, else the folders in it that have one, sorted by name.
 * @throws WhetstoneError `task-folder-empty`, with the message of `none` for a folder that has none
 */
export function foldersWith(name: string, folder: string, none: { message: string; hint: string }): string[] {
  const has = (path: string) => existsSync(join(path, name));
  if (has(folder)) return [folder];
  const status = statSync(folder, { throwIfNoEntry: false });
  const isFolder = status?.isDirectory() ?? false;
  const names = isFolder ? readdirSync(folder).sort() : [];
  const found = names.map((inside) => join(folder, inside)).filter(has);
  if (found.length > 0) return found;
  const absent = status ? 'This is a file, not a folder.' : 'This folder does not exist.';
  throw new WhetstoneError('task-folder-empty', isFolder ? none.message : absent, {
    where: folder,
    hint: none.hint,
  });
}

function includedFolders(named: string, spot: Spot): string[] {
  const folder = existingPath(named, spot, 'folder');
  if (folder === undefined) return [];
  try {
    return taskFoldersIn(folder);
  } catch (error) {
    if (!(error instanceof WhetstoneError)) throw error;
    spot.error(`has no task: ${folder}`, { hint: `a task is a folder with a ${TASK_FILE}` });
    return [];
  }
}

function checkId(raw: unknown, shown: string, seen: Map<string, string>, spot: Spot): void {
  const id = isMapping(raw) && typeof raw.id === 'string' ? raw.id.trim() : '';
  if (id === '') return;
  const earlier = seen.get(id);
  if (earlier === undefined) seen.set(id, shown);
  else spot.at('id').error('duplicate task id', { hint: `${earlier} has the same id` });
}
