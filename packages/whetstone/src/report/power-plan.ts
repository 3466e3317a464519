import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { minimumDetectableDifference, tasksNeeded } from '../stats/population-difference.ts';
import { ASSUMED_SPREAD, estimateSpread, type Spread, spreadWith } from '../stats/spread.ts';
import type { CaseResult } from './case-results.ts';
import { resultsOfRun } from './sequential.ts';
import { requirePassRates, taskCounts } from './task-values.ts';

/** What an experiment should find, and how. */
export type PlanQuestion = {
  /** The true difference that matters, as a fraction (0.1 for 10 pp). The user's, never a measured one (statistics, R3). */
  effect: number;
  /** The share of experiments that should show it. */
  power: number;
  /** Numbers of trials to choose from. */
  trials: readonly number[];
  /** Tasks that are there, to say what they can show. */
  tasks?: number;
  jobs: number;
};

/** How many tasks, runs, money and hours an experiment needs. Unknown numbers are `null`. */
export type PowerPlan = {
  schema_version: '1';
  effect: number;
  power: number;
  /** Agents × variants. */
  arms: number;
  /** Arms that are compared with a baseline. Holm's correction makes each of them harder to show. */
  comparisons: number;
  /** Where the spread over tasks comes from; `run_id` is `null` where it is assumed. */
  source: { run_id: string | null; tasks: number; one_trial: boolean };
  spread: Spread;
  /** One for each number of trials. `runs` counts cases. */
  choices: {
    trials: number;
    tasks: number | null;
    runs: number | null;
    cost_usd: number | null;
    hours: number | null;
  }[];
  /** The smallest difference that the tasks that are there show; `null` where they cannot show any. */
  with_tasks: { tasks: number; shows: { trials: number; effect: number | null }[] } | null;
};

/** Plans an experiment like an earlier run, or one of two arms where there is none. */
export function planPower(
  { effect, power, trials, tasks, jobs }: PlanQuestion,
  earlier?: { manifest: Manifest; rows: readonly CaseRow[] },
): PowerPlan {
  if (earlier) requirePassRates(earlier.manifest);
  const known = earlier && factsOf(earlier.manifest, resultsOfRun(earlier.manifest, earlier.rows));
  const spread = known?.estimated?.spread ?? ASSUMED_SPREAD;
  const arms = known?.arms ?? 2;
  const comparisons = Math.max(1, known?.comparisons ?? 1);
  const test = { power, comparisons };
  const times = (amount: number | null | undefined, factor: number | null) =>
    amount === null || amount === undefined || factor === null ? null : amount * factor;
  return {
    schema_version: '1',
    ...{ effect, power, arms, comparisons, spread },
    source: {
      run_id: known?.estimated ? (earlier?.manifest.run_id ?? null) : null,
      tasks: known?.estimated ? known.tasks : 0,
      one_trial: known?.estimated?.isDivided === false,
    },
    choices: trials.map((count) => {
      const needed = tasksNeeded(effect, spreadWith(spread, count), 1 / count, test);
      const perArm = needed === null ? null : needed * count;
      return {
        ...{ trials: count, tasks: needed, runs: times(arms, perArm) },
        cost_usd: times(known?.costPerTrial, perArm),
        hours: times(known?.secondsPerTrial, times(1 / (3600 * jobs), perArm)),
      };
    }),
    with_tasks:
      tasks === undefined
        ? null
        : {
            tasks,
            shows: trials.map((count) => ({ trials: count, effect: shown(tasks, count, spread, test) })),
          },
  };
}

function shown(tasks: number, trials: number, spread: Spread, test: { power: number; comparisons: number }) {
  if (tasks < 4) return null;
  const smallest = minimumDetectableDifference(tasks, spreadWith(spread, trials), 1 / trials, test);
  return smallest >= 1 ? null : smallest;
}

/** The spread, and what one trial of a task costs and takes over all arms. */
function factsOf(manifest: Manifest, cases: readonly CaseResult[]) {
  const arms = [...Map.groupBy(cases, (one) => JSON.stringify([one.agent_name, one.variant])).values()];
  const baselines = new Map(
    arms.flatMap((ofArm) =>
      ofArm[0]?.variant === manifest.baseline ? [[ofArm[0].agent_name, ofArm] as const] : [],
    ),
  );
  const compared = arms.flatMap((ofArm) => {
    const [first] = ofArm;
    const baseline = baselines.get(first?.agent_name ?? '');
    if (!first || !baseline || baseline === ofArm) return [];
    return [{ variant: first.variant, counts: pairedCounts(ofArm, baseline) }];
  });
  const pairs = compared.map(({ counts }) => counts);
  return {
    arms: arms.length,
    comparisons: countComparisons(compared.map(({ variant }) => variant)),
    tasks: Math.max(0, ...pairs.map((pair) => pair.length)),
    estimated: averageSpread(pairs),
    costPerTrial: sumOfMeans(arms, (row) => row.cost_usd),
    secondsPerTrial: sumOfMeans(arms, (row) => row.duration_seconds),
  };
}

/** One for each arm that is not a baseline, and one for each variant that several agents have. */
function countComparisons(variants: readonly string[]): number {
  const ofAgents = Map.groupBy(variants, (variant) => variant);
  return variants.length + [...ofAgents.values()].filter(({ length }) => length > 1).length;
}

function pairedCounts(variant: readonly CaseResult[], baseline: readonly CaseResult[]) {
  const ofBaseline = taskCounts(baseline);
  return [...taskCounts(variant)].flatMap(([task, count]) => {
    const base = ofBaseline.get(task);
    return base ? [{ variant: count, baseline: base }] : [];
  });
}

/** The mean over the comparisons of a run: a single one is an uncertain guess. */
function averageSpread(pairs: readonly ReturnType<typeof pairedCounts>[]) {
  const found = pairs.flatMap((pair) => estimateSpread(pair) ?? []);
  if (found.length === 0) return undefined;
  const mean = (part: keyof Spread) =>
    found.reduce((total, { spread }) => total + spread[part], 0) / found.length;
  return {
    spread: { between: mean('between'), within: mean('within') },
    isDivided: found.every(({ isDivided }) => isDivided),
  };
}

/** `null` where the amount of a case is unknown: the others need not be like it. */
function sumOfMeans(
  arms: readonly (readonly CaseResult[])[],
  amount: (row: CaseRow) => number | null,
): number | null {
  let total = 0;
  for (const cases of arms) {
    const amounts = cases.flatMap(({ row }) => (row ? [amount(row)] : []));
    const known = amounts.filter((one) => one !== null);
    if (known.length === 0 || known.length < amounts.length) return null;
    total += known.reduce((sum, one) => sum + one, 0) / known.length;
  }
  return total;
}
