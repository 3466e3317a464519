import {
  populationDifference,
  spreadWidening,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawTasks, pairedRates, type Random } from './task-rates.ts';

/** How often the 95 % interval holds the true difference, where rates are between .2 and .8, with and without the widening. */
export function coverage(replications: number, random: Random): { table: Table; aims: Aim[] } {
  const truths = [0.3, 0.5, 0.7].flatMap((within) =>
    (
      [
        [0.2, 0.2],
        [0.3, 0.5],
        [0.5, 0.5],
        [0.5, 0.8],
      ] as const
    ).flatMap((means) =>
      [0.7, 1].map((between) => ({
        truth: means[1] - means[0],
        scenario: pairedRates(means, { within, between }, random),
      })),
    ),
  );
  const rows = [20, 50, 100].flatMap((tasks) =>
    [1, 3, 5].map((trials) => {
      const shares = truths.map(({ truth, scenario }) => {
        let [shipped, plain] = [0, 0];
        for (let i = 0; i < replications; i += 1) {
          const found = drawTasks(scenario, { tasks, trials }, random);
          const holds = (widening: number) => {
            const { interval } = populationDifference(found, { widening });
            return interval !== null && interval.low <= truth && truth <= interval.high;
          };
          if (holds(spreadWidening(tasks))) shipped += 1;
          if (holds(0.01)) plain += 1;
        }
        return { shipped: (100 * shipped) / replications, plain: (100 * plain) / replications };
      });
      const ofShipped = shares.map(({ shipped }) => shipped);
      const ofPlain = shares.map(({ plain }) => plain);
      return {
        subject: `${tasks} tasks × ${trials}`,
        ...{ least: Math.min(...ofShipped), most: Math.max(...ofShipped) },
        ...{ leastOfPlain: Math.min(...ofPlain), mostOfPlain: Math.max(...ofPlain) },
      };
    }),
  );
  return {
    table: tableOf('Coverage of the 95 % interval, the worst scenarios on both sides', rows, [
      ['least', '%', 1, (row) => row.least],
      ['most', '%', 1, (row) => row.most],
      ['least without widening', '%', 1, (row) => row.leastOfPlain],
      ['most without widening', '%', 1, (row) => row.mostOfPlain],
    ]),
    aims: [
      {
        what: 'share of intervals that miss the truth, worst scenario with 20 tasks or more',
        measured: 100 - Math.min(...rows.map(({ least }) => least)),
        ...{ below: 7, unit: '%', digits: 1 },
      },
      {
        what: 'share of intervals that hold the truth, widest scenario with 20 tasks or more',
        measured: Math.max(...rows.map(({ most }) => most)),
        ...{ below: 97, unit: '%', digits: 1 },
      },
    ],
  };
}
