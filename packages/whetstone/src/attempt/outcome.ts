/**
 * Why a case did not pass. Decided from evidence (wire status, exit, kill reason), never from what the agent claims.
 * `agent`, `timeout`, `budget`, `policy` and `cheating` are results of the agent (`failed`); `task`, `verifier`,
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

/** The result of one case. An infrastructure error (`error`) is missing data, never a zero. */
export type Outcome =
  | { status: 'passed' }
  | {
      status: 'failed' | 'error';
      class: FailureClass /** The evidence, in one sentence. */;
      evidence: string;
    };
