import { openBets } from '../../packages/whetstone/src/stats/e-value.ts';
import { populationDifference } from '../../packages/whetstone/src/stats/population-difference.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawTasks, pairedRates, type Random, type RateScenario } from './task-rates.ts';

const TASKS = 60;

/** Somebody looks after every task, and stops as soon as it looks good: by the interval, and by the e-value. */
export function unplannedLooks(
  replications: number,
  { nulls, random }: { nulls: readonly RateScenario[]; random: Random },
): { table: Table; aims: Aim[] } {
  const effect = pairedRates([0.3, 0.5], { within: 0.5, between: 1 });
  const rows = [1, 3].map((trials) => {
    const ends = nulls.map((scenario) => stopped(scenario, { trials, replications, random }));
    const atEffect = stopped(effect, { trials, replications, random });
    return {
      subject: `${trials} ${trials === 1 ? 'trial' : 'trials'}`,
      byInterval: Math.max(...ends.map(({ interval }) => interval)),
      byValue: Math.max(...ends.map(({ value }) => value)),
      found: atEffect.value,
      planned: atEffect.planned,
    };
  });
  return {
    table: tableOf(`Looks after each of ${TASKS} tasks that nobody planned`, rows, [
      ['false alarms by the interval, worst', '%', 1, (row) => row.byInterval],
      ['by the e-value, worst', '%', 1, (row) => row.byValue],
      ['power .3 → .5 by the e-value', '%', 0, (row) => row.found],
      ['at the planned end', '%', 0, (row) => row.planned],
    ]),
    aims: rows.map(({ subject, byValue }) => ({
      what: `worst share of false alarms of unplanned looks by the e-value, ${subject}`,
      ...{ measured: byValue, below: 5, unit: '%', digits: 1 },
    })),
  };
}

/** The shares of experiments, in per cent, that end with a difference. */
function stopped(
  scenario: RateScenario,
  { trials, replications, random }: { trials: number; replications: number; random: Random },
) {
  const ends = { interval: 0, value: 0, planned: 0 };
  for (let replication = 0; replication < replications; replication += 1) {
    const drawn = drawTasks(scenario, { tasks: TASKS, trials }, random);
    const differs = (found: typeof drawn) => (populationDifference(found).pValue ?? 1) < 0.05;
    const looks = Array.from({ length: TASKS - 3 }, (_, i) => i + 4);
    if (looks.some((seen) => differs(drawn.slice(0, seen)))) ends.interval += 1;
    const bet = openBets();
    if (drawn.some(({ difference }) => bet(difference) >= 20)) ends.value += 1;
    if (differs(drawn)) ends.planned += 1;
  }
  const share = (count: number) => (100 * count) / replications;
  return { interval: share(ends.interval), value: share(ends.value), planned: share(ends.planned) };
}
