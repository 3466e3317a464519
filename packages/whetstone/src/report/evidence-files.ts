import { join } from 'node:path';
import { caseLayout, runLayout } from '../record/layout.ts';
import type { CaseRow, CommandRow } from '../record/row.ts';

type EvidenceFile = { label: string; path: string };

/** The first validation command that did not pass. */
export const failedCommand = ({ validation_results: results }: CaseRow): CommandRow | undefined =>
  results.find(({ exit_code: code, ended }) => code !== 0 || ended !== 'exit');

/** The log that the evidence of a failed setup names. */
function setupLog({ failure_class: failure, evidence }: CaseRow): string | undefined {
  if (failure !== 'task') return undefined;
  return /^setup\/setup-\d+\.std(?:out|err)\.log(?= ends with:$)/m.exec(evidence ?? '')?.[0];
}

/**
 * The files that show why a case has its outcome, the most useful first. Only files that such a case has.
 * @param directory The folder of the case. Default: its path relative to the run directory, for links.
 */
export function evidenceFiles(row: CaseRow, directory = runLayout('').case(row.case_id)): EvidenceFile[] {
  const files = caseLayout(directory);
  const failed = failedCommand(row);
  const setup = setupLog(row);
  const agentRan = row.agent_exit_code !== null;
  const candidates: [label: string, path: string | false | undefined][] = [
    ['setup output', setup && join(directory, setup)],
    ['validation output', failed && join(directory, failed.stdout_path)],
    ['validation errors', failed && join(directory, failed.stderr_path)],
    ['patch', (row.changed_files ?? 0) > 0 && files.patch],
    ['agent output', agentRan && files.stdout],
    ['agent errors', agentRan && files.stderr],
    ['soft evaluation', row.soft_evaluation_status !== undefined && files.review],
    ['workspace', row.workspace_path !== undefined && join(directory, row.workspace_path)],
    ['result', files.result],
  ];
  return candidates.flatMap(([label, path]) => (path ? { label, path } : []));
}
