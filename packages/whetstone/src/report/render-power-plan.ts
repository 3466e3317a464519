import { counted, dollars, percentNumber, seconds, UNKNOWN } from './format.ts';
import type { PowerPlan } from './power-plan.ts';
import { oneLine } from './sanitize.ts';
import { paragraphLines, tableLines } from './text-layout.ts';

/** A plan for a terminal, without a newline at the end. */
export function renderPowerPlan(plan: PowerPlan, width: number): string {
  const columns = Math.max(40, width);
  return [
    ...paragraphLines(heading(plan), columns),
    '',
    ...table(['trials', 'tasks', 'cases', 'cost', 'time'], plan.choices.map(choiceCells)),
    '',
    ...(plan.with_tasks ? [...withTasks(plan.with_tasks), ''] : []),
    ...notes(plan).flatMap((note) => paragraphLines(note, columns)),
  ].join('\n');
}

function heading({ effect, power, arms, source }: PowerPlan): string {
  const from =
    source.run_id === null
      ? 'an assumed spread over tasks, because no earlier run shows it'
      : `the spread over ${counted(source.tasks, 'task')} of run ${source.run_id}`;
  return oneLine(
    `To show a true difference of ${percentNumber(effect)} pp in ${percentNumber(power)} % of experiments with ${counted(arms, 'arm')}, from ${from}:`,
  );
}

function choiceCells({ trials, tasks, runs, cost_usd: cost, hours }: PowerPlan['choices'][number]): string[] {
  return [
    String(trials),
    tasks === null ? 'over 100,000' : tasks.toLocaleString('en-US'),
    runs === null ? UNKNOWN : runs.toLocaleString('en-US'),
    dollars(cost),
    seconds(hours === null ? null : hours * 3600),
  ];
}

function withTasks({ tasks, shows }: NonNullable<PowerPlan['with_tasks']>): string[] {
  const rows = shows.map(({ trials, effect }) => [
    String(trials),
    effect === null ? 'no difference of any size' : `${percentNumber(effect)} pp or more`,
  ]);
  return [
    `The smallest true difference that your ${counted(tasks, 'task')} can show:`,
    '',
    ...table(['trials', 'difference'], rows),
  ];
}

function notes({ comparisons, source, choices }: PowerPlan): string[] {
  const known = choices.filter(({ runs }) => runs !== null);
  const best = known.toSorted((a, b) => (a.runs ?? 0) - (b.runs ?? 0))[0];
  return [
    ...(best && known.length > 1
      ? [
          `Fewest cases: ${counted(best.trials, 'trial')} of ${counted(best.tasks ?? 0, 'task')}. More tasks with fewer trials need fewer cases, where there are tasks.`,
        ]
      : []),
    ...(comparisons > 1
      ? [
          `Each of ${comparisons} comparisons is planned at a level of 5 % / ${comparisons}, the worst case of Holm's correction.`,
        ]
      : []),
    ...(source.run_id !== null && source.tasks < 20
      ? [`${counted(source.tasks, 'task')} show their spread only roughly. Plan again after the next run.`]
      : []),
    ...(source.one_trial
      ? [
          'With one trial per arm, what trials and what tasks add to the spread cannot be separated: the usual shares are assumed.',
        ]
      : []),
    ...(known.some(({ cost_usd: cost }) => cost === null)
      ? ['The cost is unknown: no earlier run has the cost of all its cases.']
      : []),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return tableLines(
    widths.map((width) => ({ width, align: 'right' as const })),
    [head, ...rows],
    '  ',
  );
}
