import { type CaseResult, isSkipped } from './case-results.ts';
import type { FailureGroup } from './summary.ts';

/** What a failure class means, for a heading. A class without a title is its own title. */
const TITLES: Record<string, string> = {
  agent: "Agent's work failed",
  timeout: 'Agent ran out of time',
  budget: 'Budget used up',
  limit: 'Limit of memory, processes or files reached',
  policy: 'Agent left what cannot be read',
  task: 'Task could not be set up',
  verifier: 'Verification could not run',
  harness: 'Whetstone could not run the case',
  sandbox: 'Sandbox failed',
  'provider-limit': "Provider's rate limit reached",
  'provider-outage': 'Provider outage',
  tampered: 'Verdict void, because what it depends on was changed',
};

/** The cases that failed or ended in an error, by class, the most frequent first. Cases are in plan order. */
export function groupFailures(cases: readonly CaseResult[]): FailureGroup[] {
  const failed = cases.flatMap((one) =>
    one.row && one.row.outcome !== 'passed' && !isSkipped(one) ? one.row : [],
  );
  return [...Map.groupBy(failed, (row) => row.failure_class ?? 'unclassified')]
    .map(([name, rows]) => ({
      class: name,
      title: TITLES[name] ?? name,
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
