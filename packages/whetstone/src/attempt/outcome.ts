import type { AgentFailure, InfrastructureFailure } from '../record/failure-class.ts';

/**
 * What one case came to. An infrastructure error (`error`) is missing data, never a zero. `evidence` is one sentence:
 * what was seen.
 */
export type Outcome =
  | { status: 'passed' }
  | { status: 'failed'; class: AgentFailure; evidence: string }
  | { status: 'error'; class: InfrastructureFailure; evidence: string };
