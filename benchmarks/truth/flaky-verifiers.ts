import { disagreement, shownShare } from '../../packages/whetstone/src/stats/verifier-noise.ts';
import { type Aim, type Table, tableOf } from '../benchmark.ts';
import { drawRates, pairedRates, type Random } from './task-rates.ts';

const TASKS = 20_000;
const REPEATS = 3;

/** How much of a true difference a verifier with errors shows, and what `rescore --repeat 3` says of that. */
export function flakyVerifiers(random: Random): { table: Table; aims: Aim[] } {
  const scenario = pairedRates([0.3, 0.6], { within: 0.5, between: 1 });
  const rows = [0, 0.02, 0.05, 0.1, 0.2].map((error) => {
    const verdict = (isGood: boolean) => (random() < error ? !isGood : isGood);
    let [real, seen, disagreed] = [0, 0, 0];
    for (let task = 0; task < TASKS; task += 1) {
      for (const [arm, rate] of drawRates(scenario, random).entries()) {
        const isGood = random() < rate;
        const verdicts = Array.from({ length: REPEATS }, () => verdict(isGood));
        const sign = arm === 0 ? -1 : 1;
        real += sign * Number(isGood);
        seen += sign * Number(verdicts[0]);
        disagreed += disagreement({ passed: verdicts.filter(Boolean).length, runs: REPEATS });
      }
    }
    const announced = shownShare(disagreed / (2 * TASKS)) ?? 0;
    return {
      subject: `${100 * error} % wrong verdicts`,
      real: (100 * seen) / real,
      announced: 100 * announced,
    };
  });
  return {
    table: tableOf('A verifier that is wrong about good and bad work alike', rows, [
      ['shown share of the difference', '%', 1, (row) => row.real],
      ['announced from 3 verifications', '%', 1, (row) => row.announced],
    ]),
    aims: [
      {
        what: 'largest gap between the announced and the shown share of a difference',
        measured: Math.max(...rows.map(({ real, announced }) => Math.abs(real - announced))),
        ...{ below: 5, unit: 'points', digits: 1 },
      },
    ],
  };
}
