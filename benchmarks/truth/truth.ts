import {
  minimumDetectableDifference,
  populationDifference,
  type TaskDifference,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { seededRandom } from '../../packages/whetstone/src/stats/seeded-random.ts';
import { type Aim, type Benchmark, type Report, type Table, tableOf } from '../benchmark.ts';
import { calibration } from './calibration.ts';
import { canaries } from './canary.ts';
import { aboutCoverage, type CoverageRow, coverage, coverageRows } from './coverage.ts';
import { missed, outcomesOf, PLAIN, TRIALS, trialsOf, within } from './exact-shares.ts';
import { flakyVerifiers } from './flaky-verifiers.ts';
import { savedBaselines } from './saved-baselines.ts';
import { sequentialRuns } from './sequential.ts';
import { drawTasks, nullScenarios, pairedRates, type Random, type RateScenario } from './task-rates.ts';
import { unplannedLooks } from './unplanned-looks.ts';
import { limitOf, measured } from './worst-again.ts';

const MARGIN = 0.1;

/**
 * The parts of the benchmark. Each draws from a seed of its own, so that its figures do not depend on the others. What depends on the
 * mean and the spread of the differences alone is computed, and the worst scenario is simulated as well.
 */
export function partsOf({ replications, sizes }: { replications: number; sizes: readonly number[] }) {
  const nulls = nullScenarios();
  const seeded = (name: string) => ({ nulls, random: seededRandom(name) });
  const large = sizes.filter((tasks) => tasks >= 20);
  return {
    verdicts: sizes.map((tasks) => () => verdictRow(tasks, { ...seeded(`${tasks} tasks`), replications })),
    coverage: large.map((tasks) => () => coverageRows(tasks)),
    sequential: () => sequentialRuns(replications, seeded('sequential runs')),
    calibration: () => calibration(replications),
    saved: () => savedBaselines(replications / 4, seeded('saved baselines').random),
    looks: () => unplannedLooks(replications / 16, seeded('unplanned looks')),
    flaky: () => flakyVerifiers(seeded('flaky verifiers').random),
    canary: () => canaries(replications / 20, seeded('canary').random),
  };
}

export const FULL = { replications: 4_000, sizes: [4, 5, 6, 8, 10, 15, 20, 50, 100] };

/** How often verdicts are wrong, and how often they find what is there: the product's own rule on tasks whose true rates are known. */
export const truth: Benchmark = async ({ size, say }) => {
  const scale = size === 'quick' ? { replications: 200, sizes: [4, 8, 20] } : FULL;
  const parts = partsOf(scale);
  const measure = <Result>(name: string, part: () => Result): Result => {
    say(name);
    return part();
  };
  return reportOf(scale.replications, {
    verdicts: parts.verdicts.map((part) => measure('verdicts', part)),
    coverage: parts.coverage.map((part) => measure('coverage', part)),
    others: [
      measure('sequential runs', parts.sequential),
      measure('replays of suites against themselves', parts.calibration),
      measure('saved baselines', parts.saved),
      measure('looks that nobody planned', parts.looks),
      measure('flaky verifiers', parts.flaky),
      measure('nights of a canary', parts.canary),
    ],
  });
};

function verdictRow(
  tasks: number,
  { nulls, random, replications }: { nulls: readonly RateScenario[]; random: Random; replications: number },
) {
  const alarms = nulls.flatMap((scenario) =>
    trialsOf(tasks).map((trials) => {
      const outcomes = outcomesOf(scenario, { tasks, trials });
      const [share, ofPlainT] = [missed(outcomes, 0), missed(outcomes, 0, PLAIN)];
      return { scenario, trials, share, ofPlainT };
    }),
  );
  const worst = alarms.reduce((most, one) => (one.share > most.share ? one : most));
  const times = 25 * replications;
  const small = pairedRates([0.3, 0.5], { within: 0.5, between: 1 });
  const large = pairedRates([0.5, 0.8], { within: 0.5, between: 0.7 });
  const found = (scenario: RateScenario, trials: number) =>
    missed(outcomesOf(scenario, { tasks, trials }), 0);
  return {
    subject: `${tasks} tasks`,
    ...{ tasks, worst: worst.share },
    where: `${worst.scenario.name}; ${worst.trials} ${worst.trials === 1 ? 'trial' : 'trials'}`,
    simulated: measured(alarmsOf(worst, { tasks, replications: times, random }), times).shown,
    worstOfPlainT: Math.max(...alarms.map(({ ofPlainT }) => ofPlainT)),
    single: found(small, 1),
    small: found(small, 3),
    large: found(large, 3),
    planned: plannedPower(small, tasks, replications, random),
    ...(tasks >= 20 && wronglyEquivalent(tasks)),
  };
}

/** The worst shares of “equivalent” where the true difference is the margin. */
function wronglyEquivalent(tasks: number): { equivalent: number; equivalentOf90: number } {
  const shares = [0.3, 0.5, 0.7].flatMap((correlation) =>
    [0.1, 0.3, 0.5, 0.8].flatMap((rate) =>
      [0.7, 1].flatMap((between) => {
        const shifted = pairedRates([rate, rate + MARGIN], { within: correlation, between });
        return trialsOf(tasks).map((trials) => {
          const outcomes = outcomesOf(shifted, { tasks, trials });
          return [0.95, 0.9].map((level) => within(outcomes, MARGIN, { level, widening: 'full' }));
        });
      }),
    ),
  );
  const worst = (place: number) => Math.max(...shares.map((share) => share[place] ?? 0));
  return { equivalent: worst(0), equivalentOf90: worst(1) };
}

type Section = { table: Table; aims: Aim[] };

/** The report of what the parts found. */
export function reportOf(
  replications: number,
  found: {
    verdicts: readonly ReturnType<typeof verdictRow>[];
    coverage: readonly CoverageRow[][];
    others: readonly Section[];
  },
): Report {
  const { verdicts: rows, others } = found;
  const covered = coverage(found.coverage.flat());
  const count = (number: number) => number.toLocaleString('en');
  return {
    method: `The nulls are 28 scenarios of task rates (Beta, correlation within a task .3 to .7, between a task's two rates .7 or 1, and skewed ones) with ${TRIALS.join(', ')} trials (100 tasks: up to 5); the worst of them is shown. False positives, power, wrong equivalences and coverage are computed from the exact distribution of the sum and the squares of the differences, and nothing is drawn. The worst null is also simulated ${count(25 * replications)} times, and all else ${count(replications)} times.`,
    tables: [
      tableOf('Two-sided verdicts at the 5 % level', rows, [
        ['false positives, worst', '%', 2, (row) => row.worst],
        ['simulated, with its 95 % interval', '%', 2, (row) => row.simulated],
        ['where', '', 0, (row) => row.where],
        ['of a plain t test', '%', 1, (row) => row.worstOfPlainT],
        ['power .3 → .5, 1 trial', '%', 0, (row) => row.single],
        ['3 trials', '%', 0, (row) => row.small],
        ['power .5 → .8, 3 trials', '%', 0, (row) => row.large],
        ['power at the stated MDE', '%', 0, (row) => row.planned],
        ['wrong “equivalent”, worst', '%', 1, (row) => row.equivalent],
        ['with 90 % intervals', '%', 1, (row) => row.equivalentOf90],
      ]),
      ...covered.tables,
      ...others.map(({ table }) => table),
    ],
    aims: [
      ...rows.map(({ subject, tasks, worst }) => ({
        what: `worst share of false positives, ${subject}`,
        ...{ measured: worst, below: limitOf(tasks), unit: '%', digits: 2 },
      })),
      ...rows.flatMap(({ subject, equivalent }) =>
        equivalent === undefined
          ? []
          : {
              what: `worst share of wrong equivalences, ${subject}`,
              ...{ measured: equivalent, below: 5, unit: '%', digits: 1 },
            },
      ),
      ...covered.aims,
      ...others.flatMap(({ aims }) => aims),
    ],
    notes: [
      'The worst of many simulated scenarios is above its own expectation, at 4,000 replications by up to about 0.6 points. So the three worst of sequential runs and of saved baselines with a bridge are simulated again, 20,000 times each with new draws, and the worst of these is shown with its 95 % interval.',
      ...aboutCoverage(),
      'Saved baselines have a quarter of the replications, canaries a twentieth, and unplanned looks 250.',
      'The MDE is computed from each sample, as a report does; its power is what a difference of that size really has.',
      `“Equivalent”: the 95 % interval inside ±${MARGIN * 100} points although the true difference is ${MARGIN * 100} points.`,
    ],
  };
}

/** The number of false positives. */
function alarmsOf(
  { scenario, trials }: { scenario: RateScenario; trials: number },
  { tasks, replications, random }: { tasks: number; replications: number; random: Random },
): number {
  let count = 0;
  for (let i = 0; i < replications; i += 1)
    if (differs(drawTasks(scenario, { tasks, trials }, random))) count += 1;
  return count;
}

function differs(found: TaskDifference[]): boolean {
  const { interval } = populationDifference(found);
  return interval !== null && (interval.low > 0 || interval.high < 0);
}

/** The power of the rule at the difference that a report of such a sample states as detectable. */
function plannedPower(
  scenario: RateScenario,
  tasks: number,
  replications: number,
  random: Random,
): number | undefined {
  if (tasks < 6) return undefined;
  const trials = 3;
  const shares = Array.from({ length: 10 }, () => {
    const { standardDeviation } = populationDifference(drawTasks(scenario, { tasks, trials }, random));
    const stated = minimumDetectableDifference(tasks, standardDeviation ?? 0, 1 / trials);
    if (stated > 0.65) return undefined;
    const real = pairedRates([0.3, 0.3 + stated], { within: 0.5, between: 1 });
    return shareOf(replications / 10, () => differs(drawTasks(real, { tasks, trials }, random)));
  }).filter((share) => share !== undefined);
  return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** In per cent. */
function shareOf(replications: number, isTrue: () => boolean): number {
  let count = 0;
  for (let replication = 0; replication < replications; replication += 1) if (isTrue()) count += 1;
  return (100 * count) / replications;
}
