import { readFile } from 'node:fs/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type LabelAgreement, labelAgreement } from '../eval/agreement/label-agreement.ts';
import { readRun } from '../record/read-run.ts';
import { escapedJson } from '../report/json.ts';
import { judgeVerdicts } from '../report/judge-verdicts.ts';
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
  const judged =
    run === undefined
      ? undefined
      : judgeVerdicts((await readRun(await locateRun(run, undefined))).rows.values(), label);
  const agreement = labelAgreement(labels, { file, ...present({ judged }) });
  stdout.write(json ? escapedJson(agreement) : textOf(agreement));
  return 0;
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
