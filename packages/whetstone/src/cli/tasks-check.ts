import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { present } from '@whetstone/events/present';
import type { Config, TaskConfig } from '../config/config.ts';
import { readTaskFolder, taskFoldersIn } from '../config/read-task-file.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { tableLines } from '../report/text-layout.ts';
import { checkTask, type TaskCheck } from '../tasks/check-tasks.ts';
import { openTaskRoom } from '../tasks/task-room.ts';
import { openRepository } from '../workspace/repository.ts';
import { findWithheld } from '../workspace/withheld.ts';
import { type EarlierResults, earlierResults } from './earlier-results.ts';
import { findConfig, openConfig } from './find-config.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';
import { environmentOf, preparationOf, prepareLine } from './tasks-environment.ts';

export type TasksCheckOptions = {
  config?: string;
  tasks?: string;
  repo?: string;
  prepare: string[];
  setupTimeout: number;
  taskId: string[];
  repeat: number;
  json?: boolean;
};

/** A task that was checked, and what agents made of it so far; `null`: no run of the configuration has it. */
export type Checked = TaskCheck & { results: EarlierResults | null };

/** Checks tasks without an agent. Returns 0 if all are fit for use, else 1. */
export async function tasksCheckCommand(
  folders: string[],
  options: TasksCheckOptions,
  streams: Streams,
): Promise<number> {
  const { stdout, stderr } = streams;
  const say = (line: string) => {
    if (!options.json) stderr.write(`${line}\n`);
  };
  const { tasks, runs, ...place } = await tasksOf(folders, options, say);
  const chosen = tasks.filter(({ id }) => options.taskId.length === 0 || options.taskId.includes(id));
  const results = runs === undefined ? undefined : await earlierResults(chosen, runs);
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  await using room = await openTaskRoom({ ...place, signal });
  const checks: Checked[] = [];
  for (const task of chosen) {
    if (signal.aborted) break;
    const check = await checkTask(task, { room, repeat: options.repeat, signal });
    // What was stopped says nothing about its task.
    if (signal.aborted) break;
    checks.push({ ...check, results: results?.get(task.id) ?? null });
    say(`${checks.length}/${chosen.length} ${oneLine(task.id)}`);
  }
  const unfit = checks.filter(({ problems }) => problems.length > 0);
  if (options.json) stdout.write(escapedJson({ checks, unfit: unfit.map(({ task }) => task) }));
  else stdout.write(`${checkLines(checks).join('\n')}\n`);
  if (signal.aborted) return 130;
  return unfit.length === 0 ? 0 : 1;
}

type Place = Pick<Config, 'repo' | 'sandbox' | 'environment'> & {
  withheld: Awaited<ReturnType<typeof findWithheld>>;
  logs: string;
  /** The folder of earlier runs. */
  runs?: string;
};

/** Where `tasks mine` puts its tasks. */
const MINED = 'tasks/mined';

/** Whether mined tasks are all that is here. */
function isWithoutConfig(named: string | undefined): boolean {
  if (named !== undefined || !existsSync(MINED)) return false;
  try {
    findConfig(named);
    return false;
  } catch {
    return true;
  }
}

/** Tasks of the folders that are named, else those of the configuration, else those that were mined. */
async function tasksOf(
  folders: readonly string[],
  { config, tasks, repo, prepare, setupTimeout }: TasksCheckOptions,
  say: (line: string) => void,
): Promise<Place & { tasks: TaskConfig[] }> {
  const named = folders.length === 0 && isWithoutConfig(config) ? [MINED] : folders;
  if (named.length > 0) {
    const read = await Promise.all(
      named.flatMap((folder) => taskFoldersIn(resolve(folder)).map(readTaskFolder)),
    );
    const path = (await openRepository(repo ?? '.')).workTree;
    const place = {
      repo: { path, baseRef: 'HEAD' },
      withheld: [],
      logs: join(cacheFolder(), 'prepare-logs'),
    };
    const asked = { prepare, setup: read.flatMap(({ setup }) => setup) };
    const commands = preparationOf(asked, path);
    say(prepareLine(commands, asked));
    const environment = environmentOf(commands, setupTimeout);
    return { ...place, tasks: read, sandbox: { provider: 'process' }, ...present({ environment }) };
  }
  const { loaded, environment } = await openConfig(present({ config, tasks }));
  Object.assign(process.env, environment);
  const withheld = await findWithheld(loaded.config);
  const { outputDir } = loaded.config;
  return { ...loaded.config, withheld, logs: join(outputDir, 'prepare-logs'), runs: outputDir };
}

function checkLines(checks: readonly Checked[]): string[] {
  const share = (runs: TaskCheck['gold']) => (!runs?.runs ? '–' : `${runs.passed}/${runs.runs}`);
  const rows = checks.map((check) => [
    check.problems.length === 0 ? 'fit' : 'UNFIT',
    share(check.nop),
    share(check.gold),
    String(check.flaky.length),
    check.results === null ? '–' : `${check.results.passed}/${check.results.cases}`,
    check.seconds === null ? '–' : `${check.seconds.toFixed(1)} s`,
    oneLine(check.task),
  ]);
  const columns = [
    { width: 5 },
    { width: 4 },
    { width: 4 },
    { width: 5 },
    { width: 7 },
    { width: 7, align: 'right' as const },
    { width: 80 },
  ];
  const unfit = checks.filter(({ problems }) => problems.length > 0).length;
  return [
    ...tableLines(columns, [['', 'nop', 'gold', 'flaky', 'solved', 'time', 'task'], ...rows]),
    ...checks.flatMap(({ task, problems, warnings }) => [
      ...problems.map((problem) => `\n${oneLine(task)}: ${oneLine(problem)}`),
      ...warnings.map((warning) => `\n${oneLine(task)}: look at this: ${oneLine(warning)}`),
    ]),
    '',
    unfit === 0
      ? `${counted(checks.length, 'task')}, all fit for use`
      : `${unfit} of ${counted(checks.length, 'task')} not fit for use`,
  ];
}
