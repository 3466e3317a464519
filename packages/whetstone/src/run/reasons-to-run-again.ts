import type { Plan } from '../plan/plan.ts';
import type { ReadRun } from '../record/read-run.ts';
import { counted } from '../report/format.ts';
import { casesToRun } from './plan-or-resume.ts';

/** Which cases a resumed run starts a second time, and may pay for a second time: one sentence per reason. */
export function reasonsToRunAgain(plan: Plan, resumed: ReadRun | undefined): string[] {
  if (!resumed) return [];
  const { started, rows, unread } = resumed;
  const cases = casesToRun(plan, rows);
  if (cases.length === 0) return [];
  if (!started) {
    const again = `${counted(cases.length, 'case')} will run again, if they ran before`;
    return [`${again}: journal.jsonl is missing, or no line of it can be read.`];
  }
  const reasons = cases.flatMap(({ id }) => {
    const lines = unread.filter(({ caseId }) => caseId === id).map(({ line }) => `journal.jsonl:${line}`);
    if (lines.length > 0) return [`its line in the journal cannot be read (${lines.join(', ')})`];
    const failure = rows.get(id)?.failure_class;
    if (failure) return [`the infrastructure failed (${failure})`];
    return started.has(id) ? ['the run was interrupted'] : [];
  });
  return [...Map.groupBy(reasons, (reason) => reason)].map(
    ([reason, { length }]) => `${counted(length, 'case')} will run again because ${reason}.`,
  );
}
