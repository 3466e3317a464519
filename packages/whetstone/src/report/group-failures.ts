import type { CaseResult } from './case-results.ts';
import { failureTitle } from './failure-title.ts';
import type { FailureGroup } from './summary.ts';

/** The cases that failed or ended in an error, by class, the most frequent first. Cases are in plan order. */
export function groupFailures(cases: readonly CaseResult[]): FailureGroup[] {
  const failed = cases.flatMap((one) => (one.row && one.row.outcome !== 'passed' ? one.row : []));
  return [...Map.groupBy(failed, (row) => row.failure_class ?? 'unclassified')]
    .map(([name, rows]) => ({
      class: name,
      title: failureTitle(name),
      count: rows.length,
      cases: rows.map((row) => ({
        case_id: row.case_id,
        agent: row.agent_name,
        task: row.task_id,
        variant: row.variant,
        trial: row.trial_index,
        evidence: row.evidence ?? 'no evidence was recorded',
      })),
    }))
    .sort((a, b) => b.count - a.count || (a.class < b.class ? -1 : 1));
}
