import { createInterface } from 'node:readline/promises';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { LoadedConfig } from '../config/load-config.ts';
import { previewEnvironments } from '../environment/preview-environments.ts';
import { escapedJson } from '../report/json.ts';
import type { Summary } from '../report/summary.ts';
import { casesToRun, planOrResume, type RunRequest } from '../run/plan-or-resume.ts';
import { forecastCases, forecastTrials } from '../try/forecast.ts';
import { printError } from './print-error.ts';
import { problemsOf } from './run.ts';
import { printResult, runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';
import type { TryOptions } from './try-options.ts';
import { planJson, planLines, type TryPlan } from './try-plan.ts';
import { openTry, type Trying } from './try-setup.ts';

/**
 * Compares a repository with and without a file or a skill: takes or mines tasks, shows the plan, asks, runs and prints the
 * verdict. Returns 0 if each agent has a result in both arms, else 1; 130 if a person stopped it.
 * @throws WhetstoneError `terminal-missing` where it would ask and cannot, after the plan was shown
 */
export async function tryCommand(given: string, options: TryOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  const trying = await openTry(given, options, streams);
  if (!trying) return 130;
  const { loaded } = trying;
  if (!loaded) {
    stdout.write(
      options.json ? escapedJson({ plan: planJson(trying) }) : `${planLines(trying).join('\n')}\n${NOTHING}`,
    );
    return 0;
  }
  const request = requestOf(loaded, trying, options);
  for (;;) {
    const plan = await planOf(loaded, request, options);
    const { problems } = plan;
    // One value on stdout: the plan, which says that nothing ran. It asks nothing.
    if (options.json && !options.yes && !options.dryRun) problems.push(unconfirmed());
    const isLast = options.dryRun || problems.length > 0;
    if (!options.json) (isLast ? stdout : stderr).write(`${planLines(trying, plan).join('\n')}\n`);
    else if (isLast) stdout.write(escapedJson({ plan: planJson(trying, plan) }));
    for (const problem of problems) await printError(problem, streams, false);
    if (problems.length > 0) return 2;
    if (options.dryRun) {
      if (!options.json) stdout.write(NOTHING);
      return 0;
    }
    const answer = options.yes ? 'y' : await ask(plan, streams);
    if (answer === 'y') return await runIt(trying, plan, request, options, streams);
    if (answer !== 'f') {
      stderr.write('Nothing was run.\n');
      return 130;
    }
    const isStopped = await tryFirst(plan, request, streams);
    if (isStopped) return 130;
  }
}

const NOTHING = '\nNothing was started.\n';

/** What runs: the agents that were chosen, all tasks up to the limit, and both arms. */
function requestOf(
  { config }: LoadedConfig,
  { agents }: Trying,
  { trials, maxTasks, resume }: TryOptions,
): RunRequest {
  const selection = { agents: agents.chosen.map(({ name }) => name), ...present({ maxTasks }) };
  return { config, selection, trials, ...present({ resume }) };
}

/** Other numbers of trials that the plan shows beside the one that was chosen. */
const SHOWN_TRIALS = [1, 3, 5];

async function planOf(
  loaded: LoadedConfig,
  request: RunRequest,
  { jobs, budget }: TryOptions,
): Promise<TryPlan> {
  const planned = await planOrResume(request);
  const { config, plan, resumed, sandbox } = planned;
  const forecasts = await forecastCases(config, plan);
  const trials = [...new Set(resumed ? [plan.trials] : [...SHOWN_TRIALS, plan.trials])].sort((a, b) => a - b);
  return {
    ...{ config, plan, forecasts },
    missing: casesToRun(plan, resumed?.rows).length,
    options: forecastTrials(plan, forecasts, { trials, jobs }),
    environment: await previewEnvironments(config, planned),
    problems: await problemsOf(loaded, planned, request.selection),
    ...present({ budget, sandbox }),
  };
}

/** `f` is only offered where a first case of each agent would say what is not known yet. */
async function ask({ forecasts }: TryPlan, { stdin, stderr }: Streams): Promise<string> {
  if (!stdin.isTTY) throw unconfirmed();
  const isUnknown = forecasts.some(({ seen }) => seen === 0);
  const first = isUnknown ? 'f runs one case of each agent first, to see what it costs. ' : '';
  using terminal = createInterface({ input: stdin, output: stderr });
  const asked = Promise.withResolvers<string>();
  terminal.once('close', () => asked.resolve(''));
  void terminal.question(`\n${first}Run it? [y${isUnknown ? '/f' : ''}/N] `).then(
    (answer) => asked.resolve(answer.trim().slice(0, 1).toLowerCase()),
    () => {},
  );
  const answer = await asked.promise;
  return answer === 'f' && !isUnknown ? '' : answer;
}

const unconfirmed = (): WhetstoneError =>
  new WhetstoneError('terminal-missing', 'Nothing was run: the plan needs a yes.', {
    hint: 'Call it on a terminal, or with --yes to run the plan above.',
  });

/** One case of each agent in a run of its own, which the next forecast reads. Resolves with whether a person stopped it. */
async function tryFirst({ plan }: TryPlan, request: RunRequest, streams: Streams): Promise<boolean> {
  const [task] = plan.tasks;
  const selection = {
    agents: plan.agents.map(({ name }) => name),
    variants: [plan.baseline],
    taskIds: task ? [task.id] : [],
  };
  const { config } = request;
  const { interrupted } = await runShown({ config, selection, trials: 1, jobs: 1 }, streams);
  return interrupted;
}

async function runIt(
  trying: Trying,
  plan: TryPlan,
  request: RunRequest,
  { jobs, json }: TryOptions,
  streams: Streams,
): Promise<number> {
  const { stdout, stderr } = streams;
  const result = await runShown({ ...request, jobs }, streams);
  const { summary, directory, manifest } = result;
  if (json) stdout.write(escapedJson({ plan: planJson(trying, plan), summary, directory }));
  else printResult(result, stdout);
  if (result.interrupted) {
    stderr.write(`Interrupted. Resume with the same command and --resume ${manifest.run_id}\n`);
    return 130;
  }
  if (!json && trying.written !== undefined) {
    stdout.write(`To go on from here: whetstone run -c ${trying.written}\n`);
  }
  return isAnswered(summary) ? 0 : 1;
}

const isAnswered = ({ comparisons }: Summary): boolean =>
  comparisons.length > 0 && comparisons.every(({ difference }) => difference !== null);
