/**
 * Why a case did not pass, decided from evidence (wire status, exit, kill reason), never from what the agent says.
 * `agent`, `timeout`, `budget`, `policy` and `cheating` are the agent's result (`failed`); `task`, `verifier`,
 * `harness`, `sandbox`, `provider-limit` and `provider-outage` are not (`error`).
 */
export type FailureClass =
  | 'agent'
  | 'task'
  | 'verifier'
  | 'harness'
  | 'sandbox'
  | 'provider-limit'
  | 'provider-outage'
  | 'budget'
  | 'timeout'
  | 'policy'
  | 'cheating';

/** What one case came to. An infrastructure error (`error`) is missing data, never a zero. */
export type Outcome =
  | { status: 'passed' }
  | {
      status: 'failed' | 'error';
      class: FailureClass /** One sentence that holds the evidence. */;
      evidence: string;
    };
