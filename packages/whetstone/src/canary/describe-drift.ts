import { likeliestStart } from '../stats/drift-detector.ts';
import { joined, type NightScore, type TaskTrials } from '../stats/night-score.ts';
import { populationDifference } from '../stats/population-difference.ts';
import type { Drift, NightName, Rate } from './canary-report.ts';
import type { AgentNight, Series } from './series.ts';

/** A night of one agent that counts. `index`: its place in the series. */
export type CountedNight = { index: number; night: AgentNight; trials: TaskTrials; score: NightScore | null };

const TASKS_SHOWN = 20;

/** The size of a drift that was noticed on the night `noticed`, a place in `counted`: since when, and from what to what. */
export function describeDrift(
  nights: Series['nights'],
  counted: readonly CountedNight[],
  noticed: number,
): Drift {
  const { start, sum } = likeliestStart(counted.slice(1, noticed + 1).map(({ score }) => score));
  const first = start + 1;
  const [earlier, later] = [counted.slice(0, first), counted.slice(first)];
  const [before, after] = [trialsOf(earlier), trialsOf(later)];
  const both = [...after].flatMap(([task, now]) => {
    const then = before.get(task);
    return then ? [{ task, then, now }] : [];
  });
  const found =
    both.length === 0
      ? { difference: null, interval: null }
      : populationDifference(
          both.map(({ then, now }) => ({
            difference: now.passed / now.trials - then.passed / then.trials,
            trials: { variant: now.trials, baseline: then.trials },
          })),
        );
  const nameAt = (place: number) => nameOf(nights, counted[place]?.index ?? 0);
  return {
    direction: sum < 0 ? 'worse' : 'better',
    ...{ since: nameAt(first), noticed: nameAt(noticed) },
    ...{ before: rateOf(before), after: rateOf(after) },
    ...{ difference: found.difference, interval: found.interval },
    tasks: both
      .map(({ task, then, now }) => ({
        task: task.slice(0, task.lastIndexOf('@')),
        ...{ before: rateOf(new Map([[task, then]])), after: rateOf(new Map([[task, now]])) },
      }))
      .filter((one) => changeOf(one) !== 0)
      .sort((one, other) => Math.abs(changeOf(other)) - Math.abs(changeOf(one)))
      .slice(0, TASKS_SHOWN),
    changes: changesBetween(nights, earlier, later),
  };
}

const changeOf = ({ before, after }: Pick<Drift['tasks'][number], 'before' | 'after'>): number =>
  (after.value ?? 0) - (before.value ?? 0);

const trialsOf = (nights: readonly CountedNight[]): TaskTrials =>
  nights.reduce<TaskTrials>((all, { trials }) => joined(all, trials), new Map());

/** The versions and models that differ between the last night before the drift and its first night. */
function changesBetween(
  nights: Series['nights'],
  earlier: readonly CountedNight[],
  later: readonly CountedNight[],
): Drift['changes'] {
  const facts = (one: CountedNight | undefined): [string, string | null][] => {
    const { version = null, models = [] } = one?.night ?? {};
    return [
      ['version of the agent', version],
      ['models that answered', models.length === 0 ? null : models.join(', ')],
      ['whetstone', (one && nights[one.index]?.whetstone_version) ?? null],
    ];
  };
  const now = new Map(facts(later[0]));
  return facts(earlier.at(-1)).flatMap(([what, before]) => {
    const after = now.get(what) ?? null;
    return before === after ? [] : [{ what, before, after }];
  });
}

/** The mean over tasks. */
export function rateOf(tasks: TaskTrials): Rate {
  const known = [...tasks.values()].filter(({ trials }) => trials > 0);
  const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);
  return {
    value: known.length === 0 ? null : sum(known.map(({ passed, trials }) => passed / trials)) / known.length,
    passed: sum(known.map(({ passed }) => passed)),
    trials: sum(known.map(({ trials }) => trials)),
  };
}

export function nameOf(nights: Series['nights'], index: number): NightName {
  const { run_id = '', at = '' } = nights[index] ?? {};
  return { night: index, run_id, at };
}
