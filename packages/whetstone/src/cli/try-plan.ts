import type { WhetstoneError } from '@whetstone/errors';
import type { ChosenSandbox } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import type { EnvironmentPreview } from '../environment/preview-environments.ts';
import type { Plan } from '../plan/plan.ts';
import { counted, dollars, percentNumber, seconds, tokens, UNKNOWN } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import { tableLines } from '../report/text-layout.ts';
import type { CaseForecast, TrialsForecast } from '../try/forecast.ts';
import { previewJson, previewLine } from './environment-line.ts';
import { errorJson } from './print-error.ts';
import { plannedSandboxLine, sandboxJson } from './sandbox-line.ts';
import type { Trying } from './try-setup.ts';

/** What `whetstone try` would run, and what is known of it beforehand. */
export type TryPlan = {
  config: Config;
  plan: Plan;
  forecasts: CaseForecast[];
  options: TrialsForecast[];
  /** Cases without a result: all, or those that a resumed run lacks. */
  missing: number;
  environment: EnvironmentPreview | undefined;
  problems: WhetstoneError[];
  budget?: number;
  /** Absent: the configuration names the sandbox. */
  sandbox?: ChosenSandbox;
};

/** The plan for a reader who decides. Without a plan: what is known before there are tasks. */
export function planLines(trying: Trying, plan?: TryPlan): string[] {
  const { question, agents, tasks, loaded } = trying;
  const named = (name: string, text: string) => `${name.padEnd(12)}${text}`;
  const arms = plan?.config.variants.map(({ name, description }) => `${name}: ${description}`) ?? [];
  return [
    oneLine(question),
    '',
    named('Repository', trying.repository),
    ...(loaded ? [named('Config', loaded.config.file)] : []),
    ...agents.chosen.map(({ name, note }, index) => named(index === 0 ? 'Agents' : '', `${name}${note}`)),
    ...agents.others.map(({ name, note }) => named('', `not ${name}: ${note}`)),
    ...arms.map((arm, index) => named(index === 0 ? 'Arms' : '', oneLine(arm))),
    ...tasks.map((line, index) => named(index === 0 ? 'Tasks' : '', line)),
    ...(plan ? [named('Sandbox', plannedSandboxLine(plan.config, plan.sandbox))] : []),
    ...(plan?.environment ? [named('Prepare', previewLine(plan.environment))] : []),
    ...(plan ? ofPlan(plan) : []),
  ];
}

function ofPlan({ plan, forecasts, options, missing, budget }: TryPlan): string[] {
  const { agents, tasks, variants, trials, cases } = plan;
  const sizes = [
    counted(agents.length, 'agent'),
    counted(tasks.length, 'task'),
    counted(variants.length, 'arm'),
    counted(trials, 'trial'),
  ];
  const left = missing < cases.length ? `; ${missing} of them are missing` : '';
  const chosen = options.find((one) => one.trials === trials);
  const cost = chosen?.costUsd ?? null;
  const rows = options.map((one) => [
    one.trials === trials ? '>' : '',
    String(one.trials),
    String(one.cases),
    one.costUsd === null ? 'unknown' : dollars(one.costUsd),
    one.seconds === null ? 'unknown' : seconds(one.seconds),
    one.smallestDifference === null ? 'none: too few tasks' : `${percentNumber(one.smallestDifference)} pp`,
  ]);
  const columns = [
    { width: 1 },
    { width: 6, align: 'right' as const },
    { width: 5, align: 'right' as const },
    { width: 8, align: 'right' as const },
    { width: 9, align: 'right' as const },
    { width: 20, align: 'right' as const },
  ];
  const head = ['', 'trials', 'cases', 'cost', 'time', 'smallest difference'];
  return [
    '',
    `${counted(cases.length, 'case')}: ${sizes.join(' × ')}${left}`,
    '',
    ...tableLines(columns, [head, ...rows]),
    '',
    ...forecasts.map(forecastLine),
    'The smallest difference is the one that shows with 80 % power, if agents pass about half of the time.',
    ...(budget === undefined
      ? []
      : [
          `Budget: ${dollars(budget)}. ${cost !== null && cost > budget ? 'The run will probably reach it: then its model calls end, and the rest is missing.' : 'When it is used up, no more model calls are made.'}`,
        ]),
  ];
}

/** Where the numbers of an agent come from. */
function forecastLine(forecast: CaseForecast): string {
  const { agent, seen, ofTheseTasks, listPrice, noCost, costUsd } = forecast;
  const free = noCost && `${NO_COST[noCost]}`;
  if (seen === 0) {
    const price = listPrice
      ? `the list price of ${listPrice.model} is ${dollars(listPrice.input)} per million tokens in and ${dollars(listPrice.output)} out`
      : (free ?? 'its model is only known once it runs, so the plan has no price');
    return `${agent}: no earlier run says what a case takes; ${price}.`;
  }
  const from = `${counted(seen, 'earlier case')} of ${ofTheseTasks ? 'these tasks' : 'other tasks'}`;
  const per = [
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    ...(forecast.seconds === null ? [] : [seconds(forecast.seconds)]),
    ...(forecast.tokens === null ? [] : [`${tokens(forecast.tokens, 0)} tokens`]),
  ].join(', ');
  const why = costUsd === null ? `; ${free ?? 'what they cost is not known'}` : '';
  return `${agent}: ${per || UNKNOWN} per case, as in ${from}${why}.`;
}

const NO_COST: Record<NonNullable<CaseForecast['noCost']>, string> = {
  script: 'the model is a script, which costs nothing',
  replay: 'model calls are replayed, which costs nothing',
  login: 'a plan has no price per call',
};

/** The same for programs. */
export function planJson(trying: Trying, plan?: TryPlan) {
  const { question, repository, agents, tasks, loaded, committed } = trying;
  return {
    ...{ question, repository, committed },
    config: loaded?.config.file ?? null,
    agents: agents.chosen.map(({ name }) => name),
    other_agents: agents.others.map(({ name, note }) => ({ name, because: note })),
    tasks_from: tasks,
    ...(plan && {
      baseline: plan.plan.baseline,
      tasks: plan.plan.tasks.map(({ id }) => id),
      trials: plan.plan.trials,
      cases: plan.plan.cases.length,
      cases_missing: plan.missing,
      sandbox: sandboxJson(plan.config, plan.sandbox),
      environment: previewJson(plan.environment),
      budget_usd: plan.budget ?? null,
      per_case: plan.forecasts.map((one) => ({
        agent: one.agent,
        earlier_cases: one.seen,
        of_these_tasks: one.ofTheseTasks,
        seconds: one.seconds,
        total_tokens: one.tokens,
        cost_usd: one.costUsd,
        no_cost_because: one.noCost ?? null,
        list_price_usd_per_million: one.listPrice ?? null,
      })),
      options: plan.options.map((one) => ({
        trials: one.trials,
        cases: one.cases,
        cost_usd: one.costUsd,
        seconds: one.seconds,
        smallest_difference: one.smallestDifference,
      })),
      problems: plan.problems.map(errorJson),
    }),
  };
}
