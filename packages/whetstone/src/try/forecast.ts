import type { AgentConfig } from '@whetstone/agents/config';
import { priceWithoutGateway } from '@whetstone/agents/evaluator';
import { present } from '@whetstone/events/present';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';
import { readRuns } from '../record/find-run.ts';
import type { CaseRow } from '../record/row.ts';
import { FEWEST_TASKS, minimumDetectableDifference } from '../stats/population-difference.ts';
import { ASSUMED_SPREAD, spreadWith } from '../stats/spread.ts';

/** What one case of an agent costs and takes, as far as something is known. */
export type CaseForecast = {
  agent: string;
  /** Finished cases of earlier runs with the same settings of the agent. */
  seen: number;
  /** Whether these are cases of the planned tasks. */
  ofTheseTasks: boolean;
  /** Means. `null`: unknown. */
  seconds: number | null;
  tokens: number | null;
  costUsd: number | null;
  /** In place of a cost: why there is none. */
  noCost?: 'script' | 'replay' | 'login';
  /** US dollars per million tokens, only where the cost is unknown and the configuration names the model. */
  listPrice?: { model: string; input: number; output: number };
};

/** How many runs are looked through, the newest first. */
const RUNS_READ = 20;

/** Looks at the ledgers of earlier runs, and else at the price list. Asks nobody. */
export async function forecastCases(config: Config, plan: Plan): Promise<CaseForecast[]> {
  const earlier = await earlierCases(config);
  const tasks = new Set(plan.tasks.map(({ fingerprint }) => fingerprint));
  return await Promise.all(
    inPlan(config.agents, plan.agents).map(async (agent): Promise<CaseForecast> => {
      const planned = plan.agents.find(({ name }) => name === agent.name);
      const all = earlier.filter((one) => one.agent === planned?.fingerprint);
      const same = all.filter(({ task }) => tasks.has(task));
      const rows = (same.length > 0 ? same : all).map(({ row }) => row);
      const costUsd = mean(rows.map(({ cost_usd }) => cost_usd));
      const noCost = whyNoCost(config, agent);
      const listPrice = costUsd === null && noCost === undefined ? await priceOf(agent) : undefined;
      return {
        ...{ agent: agent.name, seen: rows.length, ofTheseTasks: same.length > 0 },
        seconds: mean(rows.map(({ duration_seconds }) => duration_seconds)),
        tokens: mean(rows.map(({ total_tokens }) => total_tokens)),
        costUsd: noCost === undefined ? costUsd : null,
        ...(noCost && { noCost }),
        ...present({ listPrice }),
      };
    }),
  );
}

type EarlierCase = { agent: string; task: string; row: CaseRow };

/** Cases that finished, of runs whose model answered in the same way: a provider, a script or a recording. */
async function earlierCases({ outputDir, gateway }: Config): Promise<EarlierCase[]> {
  const wayOf = (mode: string | undefined) => (mode === 'script' || mode === 'replay' ? mode : 'provider');
  const cases: EarlierCase[] = [];
  for await (const run of readRuns(outputDir, { newest: RUNS_READ })) {
    if (wayOf(run.manifest.gateway?.mode) !== wayOf(gateway?.mode)) continue;
    const agents = new Map(run.manifest.agents.map(({ name, fingerprint }) => [name, fingerprint]));
    const tasks = new Map(run.manifest.tasks.map(({ id, fingerprint }) => [id, fingerprint]));
    for (const row of run.rows.values()) {
      if (row.reused_from || (row.outcome !== 'passed' && row.outcome !== 'failed')) continue;
      cases.push({ agent: agents.get(row.agent_name) ?? '', task: tasks.get(row.task_id) ?? '', row });
    }
  }
  return cases;
}

/** `null` where any value is unknown: the others need not be like it. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || known.length < values.length) return null;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

function whyNoCost({ gateway }: Config, agent: AgentConfig): CaseForecast['noCost'] {
  if (gateway?.mode === 'script') return 'script';
  if (gateway?.mode === 'replay' && gateway.miss !== 'fork') return 'replay';
  return agent.runner === 'driver' && agent.driver.auth === 'login' ? 'login' : undefined;
}

async function priceOf(agent: AgentConfig): Promise<CaseForecast['listPrice']> {
  const model =
    agent.runner === 'driver' ? agent.driver.model : agent.runner === 'loop' ? agent.loop.model : undefined;
  if (model === undefined) return undefined;
  // A small number of tokens, because long prompts have prices of their own.
  const price = (inputTokens: number, outputTokens: number) =>
    priceWithoutGateway(agent, [{ type: 'usage', model, usage: { inputTokens, outputTokens } }]);
  const [input, output] = await Promise.all([price(1000, 0), price(0, 1000)]);
  return input === undefined || output === undefined
    ? undefined
    : { model, input: input * 1000, output: output * 1000 };
}

/** What so many trials come to. Sums are `null` where they are unknown for any agent. */
export type TrialsForecast = {
  trials: number;
  cases: number;
  costUsd: number | null;
  /** With so many cases at the same time. */
  seconds: number | null;
  /** The smallest difference of pass rates that shows with 80 % power; `null`: none does. */
  smallestDifference: number | null;
};

/** For each number of trials: how much it costs and takes, and how small a difference it can show. */
export function forecastTrials(
  { tasks, variants }: Pick<Plan, 'tasks' | 'variants'>,
  forecasts: readonly CaseForecast[],
  { trials, jobs }: { trials: readonly number[]; jobs: number },
): TrialsForecast[] {
  return trials.map((count) => {
    const perAgent = tasks.length * variants.length * count;
    const total = (values: (number | null)[]) =>
      values.includes(null) ? null : perAgent * values.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    const seconds = total(forecasts.map((one) => one.seconds));
    const detectable = (spread: number) =>
      minimumDetectableDifference(tasks.length, spread, 1 / count, {
        power: 0.8,
        // Several agents are also compared together.
        comparisons: forecasts.length + (forecasts.length > 1 ? 1 : 0),
      });
    // A difference of 1 is one on each task, which leaves no spread.
    const isAnyShown = tasks.length >= FEWEST_TASKS && detectable(0) <= 1;
    return {
      ...{ trials: count, cases: perAgent * forecasts.length },
      costUsd: total(forecasts.map((one) => one.costUsd)),
      seconds: seconds === null ? null : seconds / Math.min(jobs, perAgent * forecasts.length),
      smallestDifference: isAnyShown ? Math.min(detectable(spreadWith(ASSUMED_SPREAD, count)), 1) : null,
    };
  });
}
