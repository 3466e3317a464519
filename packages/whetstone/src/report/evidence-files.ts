import { join } from 'node:path';
import { caseLayout, runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';

export type EvidenceFile = { label: string; path: string };

/**
 * The files that show why a case has its outcome, the most useful first. Only files that such a case has.
 * @param directory The folder of the case. Default: its path relative to the run directory, for links.
 */
export function evidenceFiles(row: CaseRow, directory = runLayout('').case(row.case_id)): EvidenceFile[] {
  const files = caseLayout(directory);
  const failed = row.validation_results.find((result) => result.exit_code !== 0 || result.ended !== 'exit');
  return [
    ...(failed
      ? [
          { label: 'validation output', path: join(directory, failed.stdout_path) },
          { label: 'validation errors', path: join(directory, failed.stderr_path) },
        ]
      : []),
    ...(row.changed_files > 0 ? [{ label: 'patch', path: files.patch }] : []),
    ...(row.agent_exit_code === null
      ? []
      : [
          { label: 'agent output', path: files.stdout },
          { label: 'agent errors', path: files.stderr },
        ]),
    { label: 'result', path: files.result },
  ];
}
