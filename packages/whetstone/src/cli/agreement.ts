import { readFile } from 'node:fs/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type LabelAgreement, labelAgreement } from '../eval/agreement/label-agreement.ts';
import { readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';

/** Compares the labels of a judge with those of people, and prints how far they agree. */
export async function agreementCommand(
  file: string,
  { run, label, json }: { run?: string; label?: string; json?: boolean },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const labels = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new WhetstoneError('labels-invalid', `The labels cannot be read: ${messageOf(error)}`, {
      where: file,
    });
  });
  const judged = run === undefined ? undefined : await judgedIn(run, label);
  const agreement = labelAgreement(labels, { file, ...present({ judged }) });
  stdout.write(json ? escapedJson(agreement) : textOf(agreement));
  return 0;
}

/** The verdicts of the judge in a run, `passed` or `failed`, by case, and by task where a task has one case. */
async function judgedIn(reference: string, label: string | undefined): Promise<Record<string, string>> {
  const { rows } = await readRun(await locateRun(reference, undefined));
  const byTask = Map.groupBy(rows.values(), ({ task_id }) => task_id);
  const verdicts = [...rows.values()].flatMap((row): [string, string][] => {
    const verdict = verdictOf(row, label);
    if (verdict === undefined) return [];
    const isOnly = byTask.get(row.task_id)?.length === 1;
    return [[row.case_id, verdict], ...(isOnly ? ([[row.task_id, verdict]] as [string, string][]) : [])];
  });
  return Object.fromEntries(verdicts);
}

/** The verdict of the one judge of a case. What it could not judge has none. */
function verdictOf({ assertions = [], case_id }: CaseRow, label: string | undefined): string | undefined {
  const judges = assertions.filter(({ name }) => name.startsWith('judge('));
  const chosen = label === undefined ? judges : judges.filter((one) => one.label === label);
  if (chosen.length > 1) {
    throw new WhetstoneError('labels-invalid', `Case ${case_id} has ${chosen.length} judgements.`, {
      hint: 'Give each judge a name of its own with `.label(…)`, and choose one with --label.',
    });
  }
  const status = chosen[0]?.status;
  return status === 'unavailable' ? undefined : status;
}

function textOf({
  kappa,
  interval,
  observed,
  expected,
  count,
  disagreements,
  missing,
}: LabelAgreement): string {
  const number = (value: number) => value.toFixed(2);
  const range = interval
    ? ` (95 %: ${number(interval.low)} to ${number(interval.high)})`
    : ', without an interval';
  const lines = [
    kappa === null
      ? 'Cohen’s κ is not defined: only one label occurs.'
      : `Cohen’s κ ${number(kappa)}${range}`,
    `${count} items with both labels; they agree on ${number(observed * 100)} %, by chance on ${number(expected * 100)} %.`,
    ...(disagreements.length > 0 ? ['', 'They disagree on:'] : []),
    ...disagreements.map(
      ({ id, human, judge }) => `  ${oneLine(id)}: people ${oneLine(human)}, judge ${oneLine(judge)}`,
    ),
    ...(missing.length > 0
      ? ['', `Not labelled by the judge: ${missing.map((id) => oneLine(id)).join(', ')}`]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}
