import { isJsonObject, type JsonObject } from '@whetstone/events/json';

/**
 * Decides whether a tool call may run. Called after the arguments of the call were validated and before it is executed.
 * A parked call goes to the hook again when `resume()` brings no decision about it.
 *
 * Contract: may be asynchronous, and should settle when `request.signal` aborts; a call that is interrupted counts as
 * denied without waiting. A throw, a rejection and an answer that is no decision count as a denial, and are reported as
 * an `ERROR` with code `hook-failed`.
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

/** The hook, which throws a `TypeError` for an answer that is no decision: a hook in JavaScript may return anything. */
export function checkedApproval(approve: ApprovalHook): ApprovalHook {
  return async (request) => {
    const decision: unknown = await approve(request);
    if (isJsonObject(decision) && decision.decision === 'parked') return { decision: 'parked' };
    return finalDecision('approve', decision, "{ decision: 'parked' }");
  };
}

/** By call id. Throws a `TypeError` for a call that is not among the parked ones, and for what is no decision. */
export function checkedDecisions(
  decisions: Readonly<Record<string, FinalDecision>>,
  parked: readonly string[],
): ReadonlyMap<string, FinalDecision> {
  const given = Object.entries(decisions).filter(([, decision]) => decision !== undefined);
  const checked = given.map(([callId, decision]) => {
    if (!parked.includes(callId))
      throw new TypeError(`resume: call ${callId} is not parked. Parked: ${parked.join(', ')}.`);
    return [callId, finalDecision(`resume: call ${callId}`, decision)] as const;
  });
  return new Map(checked);
}

/** What is not understood must not let a call run. */
function finalDecision(where: string, value: unknown, ...also: string[]): FinalDecision {
  const { decision, reason } = isJsonObject(value) ? value : {};
  if (decision === 'approved') return { decision };
  if (decision === 'denied') return { decision, ...(typeof reason === 'string' && { reason }) };
  const wanted = ["{ decision: 'approved' }", "{ decision: 'denied', reason }", ...also].join(' or ');
  throw new TypeError(`${where}: ${JSON.stringify(value)} is no decision; give ${wanted}`);
}
