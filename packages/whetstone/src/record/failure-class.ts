/**
 * Why a case did not pass, decided from evidence (wire status, exit, kill reason), never from what the agent says. A
 * `failed` case is a result of the agent; an `error` is missing data. docs/results.md has a sentence for each.
 */
export const failureClasses = {
  failed: ['agent', 'timeout', 'limit', 'budget', 'policy', 'cheating'],
  error: ['task', 'verifier', 'harness', 'sandbox', 'provider-limit', 'provider-outage', 'tampered'],
} as const;

/** A class of `failed`. */
export type AgentFailure = (typeof failureClasses.failed)[number];
/** A class of `error`. */
export type InfrastructureFailure = (typeof failureClasses.error)[number];
export type FailureClass = AgentFailure | InfrastructureFailure;
