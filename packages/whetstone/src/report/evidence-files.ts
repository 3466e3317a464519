import { statSync } from 'node:fs';
import { join } from 'node:path';
import { caseLayout } from '../record/layout.ts';
import type { CaseRow, CommandRow, FailureClass } from '../record/row.ts';

type EvidenceFile = { label: string; path: string };
type Candidate = [label: string, path: string | false | undefined];

/** The first validation command that did not pass. */
export const failedCommand = ({ validation_results: results }: CaseRow): CommandRow | undefined =>
  results.find(({ exit_code: code, ended }) => code !== 0 || ended !== 'exit');

/** The logs that the evidence of a failed setup or service names, the most telling first. */
function namedLogs({ failure_class: failure, evidence, service_ended: ended }: CaseRow): string[] {
  const setup =
    failure === 'task' && /^setup\/setup-\d+\.std(?:out|err)\.log(?= ends with:$)/m.exec(evidence ?? '');
  if (setup) return [setup[0]];
  const service = /; its logs are ((?:[\w-]+\/)?services\/\w+)\.stdout\.log and \1\.stderr\.log/;
  const logs = service.exec(ended ?? evidence ?? '')?.[1];
  return logs ? [`${logs}.stderr.log`, `${logs}.stdout.log`] : [];
}

/** Whether the case was over before its work was judged: a command that failed afterwards is not the reason. */
const isDecidedEarlier = ({ failure_class: failure, status }: CaseRow): boolean =>
  status === 'agent_failed' || (failure !== null && !JUDGED.has(failure));

const JUDGED: ReadonlySet<FailureClass> = new Set([
  'agent',
  'policy',
  'cheating',
  'task',
  'verifier',
  'tampered',
]);

/**
 * The files that show why a case has its outcome, the most useful first, each relative to the folder of the case. Only
 * files that such a case has.
 * @param directory The folder of the case, for leaving out files that are empty. Default: none is left out.
 */
export function evidenceFiles(row: CaseRow, directory?: string): EvidenceFile[] {
  const files = caseLayout('');
  const failed = failedCommand(row);
  const agentRan = row.agent_exit_code !== null;
  const ofAgent: Candidate[] = [
    ['agent output', agentRan && files.stdout],
    ['agent errors', agentRan && files.stderr],
  ];
  // A program that ends with an error says why on stderr; one that was stopped has not come to that.
  const ofFailedAgent =
    row.status === 'agent_failed' && row.agent_exit_code !== 0 ? ofAgent.toReversed() : ofAgent;
  const validation: Candidate[] = [
    ['validation output', failed?.stdout_path],
    ['validation errors', failed?.stderr_path],
  ];
  const patch: Candidate = ['patch', (row.changed_files ?? 0) > 0 && files.patch];
  const candidates: Candidate[] = [
    ...namedLogs(row).map(
      (path): Candidate => [path.includes('services/') ? 'service log' : 'setup output', path],
    ),
    ...(isDecidedEarlier(row)
      ? [...ofFailedAgent, patch, ...validation]
      : [...validation, patch, ...ofAgent]),
    ['soft evaluation', row.soft_evaluation_status !== undefined && files.review],
    ['workspace', row.workspace_path],
    ['result', files.result],
  ];
  const isEmpty = (path: string) =>
    directory !== undefined && statSync(join(directory, path), { throwIfNoEntry: false })?.size === 0;
  return candidates.flatMap(([label, path]) => (path && !isEmpty(path) ? { label, path } : []));
}
