import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { tableLines } from '../report/text-layout.ts';
import { withSandbox } from '../run/choose-sandbox.ts';
import { checkTask, type TaskCheck } from '../tasks/check-tasks.ts';
import { openTaskRoom } from '../tasks/task-room.ts';
import { type EarlierResults, earlierResults } from './earlier-results.ts';
import { environmentLine } from './environment-line.ts';
import { onInterrupt } from './interrupt.ts';
import { plannedSandboxLine } from './sandbox-line.ts';
import type { Streams } from './streams.ts';
import { type TasksOfOptions, tasksOf } from './tasks-of.ts';

export type TasksCheckOptions = TasksOfOptions & {
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
  const { tasks: chosen, runs, ...place } = await tasksOf(folders, options, say);
  const results = runs === undefined ? undefined : await earlierResults(chosen, runs);
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  const { agents = [], variants = [] } = place;
  const { config, sandbox } = await withSandbox(place, { agents, variants, tasks: chosen });
  if (!options.json) stderr.write(`Sandbox ${plannedSandboxLine(config, sandbox)}\n`);
  await using room = await openTaskRoom({
    ...{ ...config, signal },
    onEnvironment: (event) => say(environmentLine(event)),
  });
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

function checkLines(checks: readonly Checked[]): string[] {
  const share = (runs: TaskCheck['gold']) => (!runs?.runs ? '–' : `${runs.passed}/${runs.runs}`);
  const rows = checks.map((check) => [
    check.problems.length === 0 ? 'fit' : 'UNFIT',
    share(check.nop),
    share(check.gold),
    check.flaky === null ? '–' : String(check.flaky.length),
    check.results === null ? '–' : `${check.results.passed}/${check.results.cases}`,
    check.masks && 'slots' in check.masks ? `${check.masks.slots}/${check.masks.tests}` : '–',
    check.seconds === null ? '–' : `${check.seconds.toFixed(1)} s`,
    oneLine(check.task),
  ]);
  const columns = [
    { width: 5 },
    { width: 4 },
    { width: 4 },
    { width: 5 },
    { width: 7 },
    { width: 7 },
    { width: 7, align: 'right' as const },
    { width: 80 },
  ];
  const unfit = checks.filter(({ problems }) => problems.length > 0).length;
  return [
    ...tableLines(columns, [['', 'nop', 'gold', 'flaky', 'solved', 'masked', 'time', 'task'], ...rows]),
    ...checks.flatMap(({ task, problems, warnings, masks }) => [
      ...problems.map((problem) => `\n${oneLine(task)}: ${oneLine(problem)}`),
      ...(masks && 'why' in masks ? [`\n${oneLine(task)}: tests are not masked: ${oneLine(masks.why)}`] : []),
      ...warnings.map((warning) => `\n${oneLine(task)}: look at this: ${oneLine(warning)}`),
    ]),
    '',
    unfit === 0
      ? `${counted(checks.length, 'task')}, all fit for use`
      : `${unfit} of ${counted(checks.length, 'task')} not fit for use`,
  ];
}
