import type { FinalDecision } from '../control/approval.ts';
import type { ToolCallPart, ToolResult } from '../conversation/turn.ts';
import { answerWithoutRunning, runToolCalls } from '../tools/run-tool-calls.ts';
import type { LoopContext } from './loop-context.ts';

/** Runs the calls of a response and answers them. Whether they are parked instead. */
export async function runRound(
  context: LoopContext,
  calls: readonly ToolCallPart[],
  rounds: number,
  signal: AbortSignal,
): Promise<boolean> {
  return await advance(context, calls, { results: [], waiting: [], rounds }, new Map(), signal);
}

/**
 * Goes on with a parked round. A call without a decision is asked about again; where nobody is asked it is denied. The
 * answers of the round enter the history together, in the order of the calls.
 */
export async function resumeRound(
  context: LoopContext,
  decisions: ReadonlyMap<string, FinalDecision>,
  signal: AbortSignal,
): Promise<boolean> {
  const { parked, history, approve } = context;
  if (parked === undefined) return false;
  const answered = new Set(parked.results.map((result) => result.callId));
  const open = history.openCalls().filter((call) => !answered.has(call.callId));
  const undecided = approve ? [] : parked.waiting.map((callId) => [callId, NOBODY_DECIDED] as const);
  return await advance(context, open, parked, new Map([...undecided, ...decisions]), signal);
}

const NOBODY_DECIDED: FinalDecision = { decision: 'denied', reason: 'nobody decided' };

async function advance(
  context: LoopContext,
  calls: readonly ToolCallPart[],
  before: NonNullable<LoopContext['parked']>,
  decisions: ReadonlyMap<string, FinalDecision>,
  signal: AbortSignal,
): Promise<boolean> {
  const { history } = context;
  const round = await runToolCalls(calls, {
    ...toolRun(context, signal),
    decisions,
    announced: context.announced,
  });
  const results = [...before.results, ...round.results];
  if (round.parked.length > 0) {
    context.parked = { results, waiting: round.parked, rounds: before.rounds };
    // Only these: a call that waited before and is decided now has had its end.
    context.announced = new Set(round.parked);
    return true;
  }
  context.parked = undefined;
  context.announced = new Set();
  history.appendToolResults(inCallOrder(history.openCalls(), results));
  return false;
}

/** Answers the calls of a parked round that have not run; what has run keeps its result. */
export function abandonRound(context: LoopContext, text: string): void {
  const { parked, history, announced, emit } = context;
  if (parked === undefined) return;
  const known = new Set(parked.results.map((result) => result.callId));
  const results = history
    .openCalls()
    .filter((call) => !known.has(call.callId))
    .map((call) => answerWithoutRunning(call, text, { emit, announced }));
  context.parked = undefined;
  context.announced = new Set();
  history.appendToolResults(inCallOrder(history.openCalls(), [...parked.results, ...results]));
}

/** Closes the brackets of events. The round stays as it is, for whoever restores the session. */
export function endParkedCalls({ parked, history, announced, emit }: LoopContext): void {
  if (parked === undefined) return;
  for (const call of history.openCalls()) {
    if (!announced.has(call.callId)) continue;
    answerWithoutRunning(call, 'Still parked when the session was closed.', {
      emit,
      announced,
      status: 'aborted',
    });
  }
}

function inCallOrder(calls: readonly ToolCallPart[], results: readonly ToolResult[]): ToolResult[] {
  const byCall = new Map(results.map((result) => [result.callId, result]));
  return calls.flatMap(({ callId }) => byCall.get(callId) ?? []);
}

function toolRun(context: LoopContext, signal: AbortSignal) {
  const { profile, tools, environment, config, sessionId, approve, hooks, emit, steering } = context;
  return {
    tools,
    environment,
    config,
    sessionId,
    parallel: profile.supportsParallelToolCalls,
    approve,
    hooks,
    emit,
    signal,
    skip: () =>
      config.steeringMode === 'tool_boundary' && steering.messages.length > 0
        ? 'Skipped: the user sent a new instruction before this call started.'
        : undefined,
  };
}

/** Answers the calls of a response that was cut off. */
export function answerCutOff({ history, emit }: LoopContext, calls: readonly ToolCallPart[]): void {
  const text =
    'Not run: your response was cut off at the output token limit, so this call may be incomplete. ' +
    'Send it again in smaller pieces.';
  history.appendToolResults(calls.map((call) => answerWithoutRunning(call, text, { emit })));
}
