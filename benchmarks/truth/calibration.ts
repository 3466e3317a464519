import { replayVerdicts } from '../../packages/whetstone/src/stats/replay-verdicts.ts';
import { seededRandom } from '../../packages/whetstone/src/stats/seeded-random.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawRates, pairedRates, passes } from './task-rates.ts';

const EFFECT = 0.2;

/** What `whetstone calibrate` says of simulated suites, and how far the power that a plan announces is from what it finds. */
export function calibration(replays: number): { table: Table; aims: Aim[] } {
  const random = seededRandom('calibration');
  const suites = pairedRates([0.4, 0.4], { within: 0.5, between: 1 });
  const rows = [6, 8, 10, 20, 50, 100].flatMap((tasks) =>
    [1, 3, 5].map((trials) => {
      const stored = Array.from({ length: tasks }, () => {
        const [rate] = drawRates(suites, random);
        return { passed: Math.round(passes(rate, trials, random) * trials), trials };
      });
      const seed = `${tasks} ${trials}`;
      const { false_alarms: alarms, found } = replayVerdicts(stored, { effect: EFFECT, replays, seed });
      const shown = found && { found: 100 * found.share, announced: 100 * found.announced };
      return { subject: `${tasks} tasks × ${trials}`, alarms: 100 * alarms.share, ...shown };
    }),
  );
  const off = rows.flatMap(({ found, announced }) =>
    found === undefined || announced === undefined ? [] : Math.abs(found - announced),
  );
  return {
    table: tableOf(
      `\`whetstone calibrate\` on simulated suites, a planted difference of ${EFFECT * 100} points`,
      rows,
      [
        ['false alarms', '%', 1, (row) => row.alarms],
        ['found', '%', 1, (row) => row.found],
        ['announced', '%', 1, (row) => row.announced],
      ],
    ),
    aims: [
      {
        what: 'worst share of false alarms in replays',
        measured: Math.max(...rows.map(({ alarms }) => alarms)),
        below: 5,
        unit: '%',
        digits: 1,
      },
      {
        what: 'largest gap between announced and found power',
        measured: Math.max(...off),
        below: 5,
        unit: 'points',
        digits: 1,
      },
    ],
  };
}
