import { isFutile, LOOKS } from '../../packages/whetstone/src/stats/group-sequential.ts';
import { normalQuantile } from '../../packages/whetstone/src/stats/normal.ts';
import {
  FEWEST_TASKS,
  populationDifference,
  type TaskDifference,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawTasks, pairedRates, type Random, type RateScenario } from './task-rates.ts';
import { limitOf, worstAgain } from './worst-again.ts';

/** How often sequential runs are wrong, what they find, and how much of the planned tasks they need. */
export function sequentialRuns(
  replications: number,
  { nulls, random }: { nulls: readonly RateScenario[]; random: Random },
): { table: Table; aims: Aim[] } {
  const planned = pairedRates([0.3, 0.5], { within: 0.5, between: 1 });
  const none = pairedRates([0.4, 0.4], { within: 0.5, between: 1 });
  const rows = [8, 12, 20, 40, 60].map((tasks) => {
    const repeat = (scenario: RateScenario, trials: number) => {
      const ends = Array.from({ length: replications }, () => runOnce(scenario, { tasks, trials }, random));
      return {
        found: (100 * ends.filter(({ differs }) => differs).length) / replications,
        used: ends.reduce((sum, { seen }) => sum + seen, 0) / replications / tasks,
      };
    };
    const alarms = worstAgain(
      nulls.flatMap((scenario) => [1, 3, 5].map((trials) => ({ scenario, trials }))),
      { first: replications / 4, again: 5 * replications },
      ({ scenario, trials }, times) => {
        let count = 0;
        for (let i = 0; i < times; i += 1)
          if (runOnce(scenario, { tasks, trials }, random).differs) count += 1;
        return count;
      },
    );
    const [atEffect, atNone] = [repeat(planned, 3), repeat(none, 3)];
    const fixed = Array.from({ length: replications }, () =>
      populationDifference(drawTasks(planned, { tasks, trials: 3 }, random)),
    ).filter(({ pValue }) => pValue !== null && pValue < 0.05).length;
    return {
      subject: `${tasks} tasks`,
      tasks,
      alarms,
      found: atEffect.found,
      fixed: (100 * fixed) / replications,
      usedAtEffect: atEffect.used,
      usedAtNone: atNone.used,
    };
  });
  return {
    table: tableOf('Sequential runs: looks after 25, 50, 75 and 100 % of the tasks', rows, [
      ['false positives, worst', '%', 2, (row) => row.alarms.shown],
      ['power .3 → .5', '%', 0, (row) => row.found],
      ['power of all tasks at once', '%', 0, (row) => row.fixed],
      ['share of the tasks used, .3 → .5', '', 2, (row) => row.usedAtEffect],
      ['share used without a difference', '', 2, (row) => row.usedAtNone],
    ]),
    aims: rows.map(({ subject, tasks, alarms }) => ({
      what: `worst share of false positives of sequential runs, ${subject}`,
      ...{ measured: alarms.share, below: limitOf(tasks), unit: '%', digits: 2 },
    })),
  };
}

function runOnce(
  scenario: RateScenario,
  { tasks, trials }: { tasks: number; trials: number },
  random: Random,
) {
  const seen: TaskDifference[] = [];
  for (const { share, alpha } of LOOKS) {
    const upTo = Math.round(share * tasks);
    seen.push(...drawTasks(scenario, { tasks: upTo - seen.length, trials }, random));
    if (seen.length < FEWEST_TASKS) continue;
    const { pValue } = populationDifference(seen);
    if (pValue === null) continue;
    if (pValue < alpha) return { differs: true, seen: seen.length };
    if (share < 1 && isFutile(normalQuantile(1 - pValue / 2), share)) break;
  }
  return { differs: false, seen: seen.length };
}
