import type { JsonObject } from '@whetstone/events';

/** Asked between VALIDATE and EXECUTE. A rejection or a throw counts as a denial. */
export type ApprovalHook = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
export type ApprovalRequest = {
  callId: string;
  name: string;
  /** What will run. */
  args: JsonObject;
  /** What the model wrote, byte for byte. */
  input: string;
  sessionId: string;
  signal: AbortSignal;
};
/**
 * `parked`: nobody can decide now. The input ends with reason `parked`, the call stays open in the snapshot, and
 * `Session.resume()` takes the decision, in this process or another.
 */
export type ApprovalDecision = FinalDecision | { decision: 'parked' };
export type FinalDecision = { decision: 'approved' } | { decision: 'denied'; reason?: string };
