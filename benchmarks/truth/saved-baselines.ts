import { bridgedDifference } from '../../packages/whetstone/src/stats/bridged-difference.ts';
import {
  populationDifference,
  type TaskDifference,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawRates, pairedRates, passes, type Random, type RateScenario } from './task-rates.ts';
import { worstAgain } from './worst-again.ts';

const SAVED_TRIALS = 9;
const TRIALS = 3;

type Experiment = { tasks: number; bridge: number; drift: number };

/** Comparisons with a baseline of another day: without a bridge, with one on half of the tasks, and with one on all. */
export function savedBaselines(replications: number, random: Random): { table: Table; aims: Aim[] } {
  const nulls = [0.3, 0.5].flatMap((mean) =>
    [0.3, 0.7].map((within) => pairedRates([mean, mean], { within, between: 1 })),
  );
  const effect = pairedRates([0.3, 0.5], { within: 0.5, between: 1 });
  const rows = [10, 20, 50, 100].map((tasks) => {
    const half = { tasks, bridge: tasks / 2 };
    const worst = (bridge: number, rule: Rule) =>
      worstAgain(
        [0, 0.05, 0.2].flatMap((drift) => nulls.map((scenario) => ({ scenario, drift }))),
        { first: replications, again: (rule === 'open' ? 1 : 20) * replications },
        ({ scenario, drift }, times) =>
          shown(scenario, { tasks, bridge, drift }, { rule, replications: times, random }),
      );
    const power = (experiment: Omit<Experiment, 'drift'>, rule: Rule) =>
      (100 * shown(effect, { ...experiment, drift: 0 }, { rule, replications, random })) / replications;
    return {
      subject: `${tasks} tasks`,
      open: worst(tasks, 'open'),
      half: worst(tasks / 2, 'bridged'),
      all: worst(tasks, 'bridged'),
      power: power(half, 'bridged'),
      powerOfNew: power(half, 'new'),
      powerOfAll: power({ tasks, bridge: tasks }, 'bridged'),
    };
  });
  return {
    table: tableOf(
      'A saved baseline of 9 trials against 3 of today, with a drift of up to 20 points in between',
      rows,
      [
        ['false positives, worst, without a bridge', '%', 1, (row) => row.open.share],
        ['bridge on half of the tasks', '%', 2, (row) => row.half.shown],
        ['bridge on all tasks', '%', 2, (row) => row.all.shown],
        ['power .3 → .5, bridge on half', '%', 0, (row) => row.power],
        ['of the trials of today alone', '%', 0, (row) => row.powerOfNew],
        ['bridge on all', '%', 0, (row) => row.powerOfAll],
      ],
    ),
    aims: rows.map(({ subject, half, all }) => ({
      what: `worst share of false positives against a saved baseline with a bridge, ${subject}`,
      ...{ measured: Math.max(half.share, all.share), below: 5, unit: '%', digits: 2 },
    })),
  };
}

/** `open`: against the saved trials as if they were of today. `new`: only the tasks with bridge trials, and only those. */
type Rule = 'open' | 'bridged' | 'new';

/** The number of experiments that show a difference. */
function shown(
  scenario: RateScenario,
  { tasks, bridge, drift }: Experiment,
  { rule, replications, random }: { rule: Rule; replications: number; random: Random },
): number {
  // The better model of today solves a share of what failed.
  const today = (rate: number) => rate + (1 - rate) * drift;
  let count = 0;
  for (let replication = 0; replication < replications; replication += 1) {
    const compared = new Map<string, TaskDifference>();
    const bridged = new Map<string, TaskDifference>();
    const ofToday: TaskDifference[] = [];
    for (let task = 0; task < tasks; task += 1) {
      const [baseline, variant] = drawRates(scenario, random);
      const saved = passes(baseline, SAVED_TRIALS, random);
      const now = passes(today(variant), TRIALS, random);
      const trials = { variant: TRIALS, baseline: SAVED_TRIALS };
      compared.set(String(task), { difference: now - saved, trials });
      if (task >= bridge) continue;
      const again = passes(today(baseline), TRIALS, random);
      bridged.set(String(task), { difference: again - saved, trials });
      ofToday.push({ difference: now - again, trials: { variant: TRIALS, baseline: TRIALS } });
    }
    const { pValue } = {
      open: () => populationDifference([...compared.values()]),
      bridged: () => bridgedDifference(compared, bridged),
      new: () => populationDifference(ofToday),
    }[rule]();
    if (pValue !== null && pValue < 0.05) count += 1;
  }
  return count;
}
