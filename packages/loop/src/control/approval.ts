import type { JsonObject } from '@whetstone/events';

/**
 * Decides whether a tool call may run. Called after the arguments of the call were validated and before it is executed.
 * A parked call goes to the hook again when `resume()` brings no decision about it.
 *
 * Contract: may be asynchronous, and should settle when `request.signal` aborts; a call that is interrupted counts as
 * denied without waiting. A throw or a rejection counts as a denial.
 */
export type ApprovalHook = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
/** The call to decide about. */
export type ApprovalRequest = {
  callId: string;
  name: string;
  /** The arguments with which the tool will run: validated, and as `beforeTool` has left them. */
  args: JsonObject;
  /** The arguments as the model wrote them, byte for byte. */
  input: string;
  sessionId: string;
  /** Aborts on `interrupt()` and `close()`. */
  signal: AbortSignal;
};
/**
 * `parked`: nobody can decide now. The input then ends with reason `parked`, and the call stays open in the snapshot.
 * `Session.resume()` takes the decision later, in this process or in another.
 */
export type ApprovalDecision = FinalDecision | { decision: 'parked' };
/** `reason` is part of the error that the model reads in place of a result. */
export type FinalDecision = { decision: 'approved' } | { decision: 'denied'; reason?: string };
