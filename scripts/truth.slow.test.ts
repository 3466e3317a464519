import { describe, expect, test } from 'vitest';
import { scenariosOfCoverage } from '../benchmarks/truth/coverage.ts';
import { missed, outcomesOf } from '../benchmarks/truth/exact-shares.ts';
import { drawTasks, nullScenarios, pairedRates, type RateScenario } from '../benchmarks/truth/task-rates.ts';
import { populationDifference } from '../packages/whetstone/src/stats/population-difference.ts';
import { seededRandom } from '../packages/whetstone/src/stats/seeded-random.ts';

/** `npm run bench -- truth` has more sizes and replications. Three standard errors are allowed to what is simulated. */
const REPLICATIONS = 2_000;
const slack = (share: number): number => 3 * Math.sqrt((share * (1 - share)) / REPLICATIONS);

const random = seededRandom('quick truth');
const nulls = nullScenarios();

/** How often the interval of a scenario holds `value`. */
function held(scenario: RateScenario, value: number, size: { tasks: number; trials: number }): number {
  let count = 0;
  for (let i = 0; i < REPLICATIONS; i += 1) {
    const { interval } = populationDifference(drawTasks(scenario, size, random));
    if (interval && interval.low <= value && value <= interval.high) count += 1;
  }
  return count / REPLICATIONS;
}

/** In per cent. Nothing is drawn. */
const worstAlarms = (size: { tasks: number; trials: number }): number =>
  Math.max(...nulls.map((scenario) => missed(outcomesOf(scenario, size), 0)));

describe.each([4, 5, 6, 8, 10, 15, 20])('with %i tasks', (tasks) => {
  test.each([1, 2, 3, 5])(
    'and %i trials, 5 %% of verdicts on arms that are alike are wrong at most',
    (trials) => {
      expect(worstAlarms({ tasks, trials })).toBeLessThanOrEqual(5);
    },
  );
});

test('what is computed is what a simulation finds', () => {
  const size = { tasks: 8, trials: 3 };
  for (const scenario of nulls.slice(-4))
    expect(Math.abs(1 - held(scenario, 0, size) - missed(outcomesOf(scenario, size), 0) / 100)).toBeLessThan(
      slack(0.05),
    );
});

test.each([1, 2, 3, 5])(
  '50 tasks and %i trials cover 93 to 97 %% where mean rates are .2 to .8',
  (trials) => {
    for (const { truth, scenario } of scenariosOfCoverage()) {
      const covered = 100 - missed(outcomesOf(scenario, { tasks: 50, trials }), truth);
      expect(covered, scenario.name).toBeGreaterThan(93);
      expect(covered, scenario.name).toBeLessThan(97);
    }
  },
);

test('intervals hold the truth, and 20 tasks find a difference of 20 points', () => {
  const size = { tasks: 20, trials: 3 };
  const scenario = pairedRates([0.3, 0.5], { within: 0.5, between: 1 });
  const hard = pairedRates([0.5, 0.8], { within: 0.7, between: 0.7 });
  expect(held(scenario, 0.2, size)).toBeGreaterThan(0.95 - slack(0.05));
  expect(held(hard, 0.3, size)).toBeGreaterThan(0.95 - slack(0.05));
  expect(1 - held(scenario, 0, size)).toBeGreaterThan(0.74 - slack(0.26));
});
