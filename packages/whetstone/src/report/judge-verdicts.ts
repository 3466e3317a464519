import { WhetstoneError } from '@whetstone/errors';
import type { CaseRow } from '../record/row.ts';

/**
 * The verdicts of the judge in a run, `passed` or `failed`, by case, and by task where a task has one case.
 * @throws WhetstoneError `labels-invalid` where a case has several judgements and none is chosen
 */
export function judgeVerdicts(rows: Iterable<CaseRow>, label?: string): Record<string, string> {
  const all = [...rows];
  const byTask = Map.groupBy(all, ({ task_id }) => task_id);
  const verdicts = all.flatMap((row): [string, string][] => {
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
