import { drawNormal, drawPassed } from '../../packages/whetstone/src/stats/draw-counts.ts';
import { alarmAt, openDetector } from '../../packages/whetstone/src/stats/drift-detector.ts';
import { joined, nightScore, type TaskTrials } from '../../packages/whetstone/src/stats/night-score.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawRates, pairedRates, type Random, type RateScenario } from './task-rates.ts';

/** Trials of a task in the baseline, for one of a night. */
const BASELINE_TRIALS = 5;
/** Nights of a series in which nothing is found. */
const LONGEST = 600;

type Suite = { tasks: number; trials: number };
/** `drop`: of the mean pass rate, from night `from` on. `nightly`: the standard deviation of what all rates of a night have in common. */
type World = { scenario: RateScenario; drop?: number; from?: number; nightly?: number };

/** Nights against a saved baseline: how often nothing is found to be a drift, and how soon a drop is found. */
export function canaries(replications: number, random: Random): { table: Table; aims: Aim[] } {
  const nulls = [0.3, 0.7, 0.9].map((mean) => pairedRates([mean, mean], { within: 0.5, between: 1 }));
  const usual = pairedRates([0.7, 0.7], { within: 0.5, between: 1 });
  const suites: Suite[] = [10, 20, 50].flatMap((tasks) => [1, 3].map((trials) => ({ tasks, trials })));
  const rows = suites.map((suite) => {
    const alarms = (world: World, series: number) => {
      let [nights, count] = [0, 0];
      for (let i = 0; i < series; i += 1) {
        const night = alarmNight(suite, world, random);
        nights += Math.min(night, LONGEST);
        if (night <= LONGEST) count += 1;
      }
      return (200 * count) / nights;
    };
    const median = (world: World) =>
      Array.from({ length: replications }, () => alarmNight(suite, world, random)).sort((a, b) => a - b)[
        Math.floor(replications / 2)
      ];
    // Nights of the drop, not of the series: an alarm before it is a false one, and counts as found at once.
    const after = (drop: number, from: number) =>
      Math.max(0, (median({ scenario: usual, drop, from }) ?? LONGEST) - from + 1);
    return {
      subject: `${suite.tasks} tasks, ${suite.trials} a night`,
      worst: Math.max(...nulls.map((scenario) => alarms({ scenario }, replications))),
      nightly: alarms({ scenario: usual, nightly: 0.02 }, replications),
      large: after(0.2, 1),
      small: after(0.1, 1),
      later: after(0.1, 30),
    };
  });
  return {
    table: tableOf('A canary against a baseline of five times the trials of a night', rows, [
      ['false alarms in 200 nights, worst', '', 2, (row) => row.worst],
      ['where nights differ by 2 pp', '', 2, (row) => row.nightly],
      ['nights to find a drop of 20 pp', '', 0, (row) => row.large],
      ['of 10 pp', '', 0, (row) => row.small],
      ['of 10 pp, after 30 nights', '', 0, (row) => row.later],
    ]),
    aims: rows.map(({ subject, worst }) => ({
      what: `false alarms of a canary in 200 nights, ${subject}`,
      ...{ measured: worst, below: 1, unit: '', digits: 2 },
    })),
  };
}

/** The night of the first alarm, counted from 1; Infinity: none in 600. */
function alarmNight(
  { tasks, trials }: Suite,
  { scenario, drop = 0, from = 1, nightly = 0 }: World,
  random: Random,
): number {
  const rates = Array.from({ length: tasks }, () => drawRates(scenario, random)[0]);
  const kept = 1 - drop / (rates.reduce((total, rate) => total + rate, 0) / tasks);
  const nightOf = (count: number, change: number, factor: number): TaskTrials =>
    new Map(
      rates.map((rate, task) => {
        const tonight = Math.min(1, Math.max(0, rate * factor + change));
        return [String(task), { passed: drawPassed(tonight, count, random), trials: count }];
      }),
    );
  const change = () => (nightly === 0 ? 0 : nightly * drawNormal(random));
  const watch = openDetector();
  let before = nightOf(BASELINE_TRIALS * trials, change(), 1);
  for (let night = 1; night <= LONGEST; night += 1) {
    const tonight = nightOf(trials, change(), night < from ? 1 : Math.max(0, kept));
    if (watch(nightScore(before, tonight, random())) >= alarmAt(1)) return night;
    before = joined(before, tonight);
  }
  return Number.POSITIVE_INFINITY;
}
