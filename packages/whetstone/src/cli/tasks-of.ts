import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { present } from '@whetstone/events/present';
import type { Config, TaskConfig } from '../config/config.ts';
import type { Diagnostic } from '../config/diagnostic.ts';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import { isOfHarbor } from '../config/harbor-task.ts';
import { readTaskFolder, taskFoldersIn } from '../config/read-task-file.ts';
import { assertKnown } from '../plan/plan-run.ts';
import { needsScripts } from '../tasks/mining-journal.ts';
import { openRepository } from '../workspace/repository.ts';
import { findWithheld } from '../workspace/withheld.ts';
import { hasConfig, openConfig } from './find-config.ts';
import { environmentOf, installOf, prepareLine } from './tasks-environment.ts';

/** What names tasks on the command line. */
export type TasksOfOptions = {
  config?: string;
  tasks?: string;
  repo?: string;
  prepare: string[];
  setupTimeout: number;
  /** Only these. Empty: all. */
  taskId: string[];
};

/** Where tasks are verified. */
type TaskSettings = Pick<Config, 'repo' | 'sandbox' | 'environment' | 'gateway' | 'judge' | 'outputDir'> &
  Partial<Pick<Config, 'agents' | 'variants'>> & {
    withheld: Awaited<ReturnType<typeof findWithheld>>;
    logs: string;
    /** The folder of earlier runs. */
    runs?: string;
  };

/** Where `tasks mine` puts its tasks. */
const MINED = 'tasks/mined';

/** Tasks of the folders that are named, else those of the configuration, else those that were mined. */
export async function tasksOf(
  folders: readonly string[],
  { config, tasks, repo, prepare, setupTimeout, taskId }: TasksOfOptions,
  say: (line: string) => void,
): Promise<TaskSettings & { tasks: TaskConfig[] }> {
  const chosen = (all: TaskConfig[]) => {
    const ids = all.map(({ id }) => id);
    assertKnown(taskId, ids, 'task');
    return all.filter(({ id }) => taskId.length === 0 || taskId.includes(id));
  };
  const named =
    folders.length === 0 && config === undefined && existsSync(MINED) && !hasConfig() ? [MINED] : folders;
  const warn = (warnings: readonly Diagnostic[]) => {
    if (warnings.length > 0) say(formatDiagnostics(warnings, { color: false }));
  };
  if (named.length > 0) {
    const warnings: Diagnostic[] = [];
    const paths = named.flatMap((folder) => taskFoldersIn(resolve(folder)));
    const read = await Promise.all(paths.map((folder) => readTaskFolder(folder, warnings)));
    warn(warnings);
    const path = (await openRepository(repo ?? '.')).workTree;
    const place = {
      repo: { path, baseRef: 'HEAD' },
      withheld: [],
      logs: join(cacheFolder(), 'prepare-logs'),
      outputDir: cacheFolder(),
    };
    const asked = { prepare, setup: read.flatMap(({ setup }) => setup) };
    const needs = await Promise.all(named.map((folder) => needsScripts(resolve(folder))));
    const install = installOf(asked, path, { scriptsAreNeeded: needs.includes(true) });
    say(prepareLine(install, asked));
    const environment = environmentOf(install, setupTimeout);
    return {
      ...place,
      tasks: chosen(read),
      sandbox: { provider: read.some(isOfHarbor) ? 'process' : 'auto' },
      ...present({ environment }),
    };
  }
  const { loaded, environment } = await openConfig(present({ config, tasks }));
  Object.assign(process.env, environment);
  warn(loaded.warnings);
  const withheld = await findWithheld(loaded.config);
  const { outputDir } = loaded.config;
  return {
    ...loaded.config,
    tasks: chosen(loaded.config.tasks),
    withheld,
    logs: join(outputDir, 'prepare-logs'),
    runs: outputDir,
  };
}
