import { counted, rateWithInterval, UNKNOWN } from './format.ts';
import type { Share, SuiteSummary } from './suite-audit.ts';

/** How far the rates of a run can be believed, in a sentence. `tasks`: how many the run has. */
export function auditLine(audit: SuiteSummary, tasks: number): string {
  const { integrity, false_pass: falsePass, false_fail: falseFail, findings } = audit;
  const share = (name: string, { rate, interval, count, of }: Share, what: string) =>
    rate === null
      ? `${name} unknown`
      : `${name} ${rateWithInterval(rate, interval)} (${count} of ${counted(of, what)})`;
  const audited = audit.tasks === tasks ? '' : `, ${audit.tasks} of ${counted(tasks, 'task')} audited`;
  return `Audit of the tasks: integrity ${integrity ?? UNKNOWN} of 100, ${share('false passes', falsePass, 'mutant')}, ${share('false fails', falseFail, 'refactor')}, ${counted(findings, 'finding')}${audited}.`;
}

/** How many tasks a run has. */
export const tasksOf = ({ cells }: { cells: readonly { task: string }[] }): number =>
  new Set(cells.map(({ task }) => task)).size;
