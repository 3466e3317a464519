import {
  minimumDetectableDifference,
  populationDifference,
  spreadWidening,
  type TaskDifference,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { seededRandom } from '../../packages/whetstone/src/stats/seeded-random.ts';
import { type Benchmark, tableOf } from '../benchmark.ts';
import { calibration } from './calibration.ts';
import { coverage } from './coverage.ts';
import { flakyVerifiers } from './flaky-verifiers.ts';
import { savedBaselines } from './saved-baselines.ts';
import { sequentialRuns } from './sequential.ts';
import { drawTasks, nullScenarios, pairedRates, type Random, type RateScenario } from './task-rates.ts';
import { unplannedLooks } from './unplanned-looks.ts';

const MARGIN = 0.1;
const MOST_FALSE_POSITIVES = 5.5;

/**
 * How often verdicts are wrong, and how often they find what is there: the product's own rule on simulated tasks whose
 * true rates are known. Without the widening, and with the widening as shipped.
 */
export const truth: Benchmark = async ({ size, say }) => {
  const replications = size === 'quick' ? 200 : 4_000;
  const random = seededRandom('truth');
  const nulls = nullScenarios(random);
  const small = pairedRates([0.3, 0.5], { within: 0.5, between: 1 }, random);
  const large = pairedRates([0.5, 0.8], { within: 0.5, between: 0.7 }, random);
  const shifted = [0.3, 0.5, 0.7].flatMap((within) =>
    [0.1, 0.3, 0.5, 0.8].flatMap((rate) =>
      [0.7, 1].map((between) => pairedRates([rate, rate + MARGIN], { within, between }, random)),
    ),
  );
  const rows = [4, 6, 8, 10, 15, 20, 50, 100].map((tasks) => {
    say(`${tasks} tasks`);
    const share = (scenario: RateScenario, trials: number, isClaimed: (found: TaskDifference[]) => boolean) =>
      shareOf(replications, () => isClaimed(drawTasks(scenario, { tasks, trials }, random)));
    const worst = (isClaimed: (found: TaskDifference[]) => boolean, of = nulls) =>
      Math.max(...of.flatMap((scenario) => [1, 3, 5].map((trials) => share(scenario, trials, isClaimed))));
    return {
      subject: `${tasks} tasks`,
      widening: spreadWidening(tasks),
      worst: worst(differs),
      worstOfPlainT: worst((found) => differs(found, 0.01)),
      small: share(small, 3, differs),
      large: share(large, 3, differs),
      planned: plannedPower(small, tasks, replications, random),
      equivalent: tasks < 20 ? undefined : worst((found) => isWithin(found, 0.95), shifted),
      equivalentOf90: tasks < 20 ? undefined : worst((found) => isWithin(found, 0.9), shifted),
    };
  });
  say('sequential runs');
  const sequential = sequentialRuns(replications, { nulls, random });
  say('replays of suites against themselves');
  const calibrated = calibration(replications);
  say('coverage of the intervals');
  const covered = coverage(replications / 4, random);
  say('saved baselines');
  const saved = savedBaselines(replications / 4, random);
  say('looks that nobody planned');
  const looks = unplannedLooks(size === 'quick' ? 20 : 250, { nulls, random });
  const flaky = flakyVerifiers(random);
  const others = [sequential, calibrated, covered, saved, looks, flaky];
  return {
    method: `${replications} replications per scenario. The nulls are ${nulls.length} scenarios of task rates (Beta, correlation within a task .3 to .7, between a task's two rates .7 or 1, and a skewed one) with 1, 3 and 5 trials; the worst of them is shown. Power is with 3 trials.`,
    tables: [
      tableOf('Two-sided verdicts at the 5 % level', rows, [
        ['widening c', '', 1, (row) => row.widening],
        ['false positives, worst', '%', 1, (row) => row.worst],
        ['of a plain t test', '%', 1, (row) => row.worstOfPlainT],
        ['power .3 → .5', '%', 0, (row) => row.small],
        ['power .5 → .8', '%', 0, (row) => row.large],
        ['power at the stated MDE', '%', 0, (row) => row.planned],
        ['wrong “equivalent”, worst', '%', 1, (row) => row.equivalent],
        ['with 90 % intervals', '%', 1, (row) => row.equivalentOf90],
      ]),
      ...others.map(({ table }) => table),
    ],
    aims: [
      ...rows.map(({ subject, worst }) => ({
        what: `worst share of false positives, ${subject}`,
        measured: worst,
        below: MOST_FALSE_POSITIVES,
        unit: '%',
        digits: 1,
      })),
      ...rows.flatMap(({ subject, equivalent }) =>
        equivalent === undefined
          ? []
          : {
              what: `worst share of wrong equivalences, ${subject}`,
              ...{ measured: equivalent, below: MOST_FALSE_POSITIVES, unit: '%', digits: 1 },
            },
      ),
      ...others.flatMap(({ aims }) => aims),
    ],
    notes: [
      'The worst of many scenarios is above its own expectation: at 4,000 replications by up to about 0.6 points.',
      'Coverage is missed at its upper end (aim 93 to 97 %): with 20 tasks and one trial even the interval without any widening holds the truth in up to 98 to 99 %, because so few passes have few values, and a smaller widening has more than 5.5 % false positives under the skewed null. No widening meets both ends.',
      'Coverage and saved baselines have a quarter of the replications, and unplanned looks 250.',
      'The MDE is computed from each sample, as a report does; its power is what a difference of that size really has.',
      `“Equivalent”: the 95 % interval inside ±${MARGIN * 100} points although the true difference is ${MARGIN * 100} points.`,
    ],
  };
};

function differs(found: TaskDifference[], widening = spreadWidening(found.length)): boolean {
  const { interval } = populationDifference(found, { widening });
  return interval !== null && (interval.low > 0 || interval.high < 0);
}

function isWithin(found: TaskDifference[], level: number): boolean {
  const { interval } = populationDifference(found, { level });
  return interval !== null && interval.low > -MARGIN && interval.high < MARGIN;
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
    const real = pairedRates([0.3, 0.3 + stated], { within: 0.5, between: 1 }, random);
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
