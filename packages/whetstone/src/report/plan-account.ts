import { counted } from './format.ts';
import type { Summary } from './summary.ts';

/** Why cases did not run, after their number. */
export const notRunText = ({ cases, sequential }: Pick<Summary, 'cases' | 'sequential'>): string =>
  `${cases.not_run} not run ${sequential ? 'after the last look' : 'after a pass'}`;

/** What was planned, what of it ran, and what of that the comparisons are about; `null` where nothing is compared. */
export function planAccount(
  summary: Pick<Summary, 'cases' | 'cells' | 'comparisons' | 'metric' | 'sequential'>,
): string | null {
  const { cases, cells, comparisons, metric, sequential } = summary;
  if (comparisons.length === 0) return null;
  const tasks = new Set(cells.map(({ task }) => task)).size;
  const margins = comparisons.flatMap(({ equivalence }) => equivalence?.margin ?? []);
  const margin =
    margins.length > 0
      ? `, differences up to ${100 * Math.max(...margins)} ${metric.unit} count as none`
      : '';
  const looks = sequential ? `, ${sequential.looks} looks` : '';
  const analysed = comparisons.map((one) => one.tasks);
  const [least, most] = [Math.min(...analysed), Math.max(...analysed)];
  const range = least === most ? counted(most, 'task') : `${least} to ${counted(most, 'task')}`;
  return `Planned: ${counted(tasks, 'task')}, ${counted(cases.planned, 'case')}, ${metric.title}${margin}${looks}. Ran: ${counted(cases.finished, 'case')}${lookText(sequential)}. Compared: ${range}.`;
}

function lookText(sequential: Summary['sequential']): string {
  if (!sequential) return '';
  const { done, looks, ended } = sequential;
  const why = { decided: 'every comparison was decided', futile: 'no comparison had a chance left' };
  if (ended) return `, up to look ${done} of ${looks}, because ${why[ended]}`;
  return done < looks ? `, with ${done} of ${looks} looks taken` : ', with all looks taken';
}
