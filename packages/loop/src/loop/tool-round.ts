import type { FinalDecision } from '../control/approval.ts';
import type { ParkedRound } from '../conversation/snapshot.ts';
import type { ToolCallPart, ToolResult } from '../conversation/turn.ts';
import { answerWithoutRunning, runToolCalls } from '../tools/run-tool-calls.ts';
import type { LoopContext } from './loop-context.ts';

/** Runs a response's tool calls and adds the results to the history. Resolves with `true` if calls are parked instead. */
export function runRound(
  context: LoopContext,
  calls: readonly ToolCallPart[],
  rounds: number,
  signal: AbortSignal,
): Promise<boolean> {
  return advance(context, calls, { results: [], waiting: [], rounds }, NO_DECISIONS, signal);
}

/**
 * Continues a parked round with decisions about its calls, by call id. A call without a decision goes to the approval
 * hook again, and is denied where there is none. All results of the round enter the history together, in the order of
 * the calls. Resolves with `true` where calls are parked again.
 */
export async function resumeRound(
  context: LoopContext,
  decisions: ReadonlyMap<string, FinalDecision>,
  signal: AbortSignal,
): Promise<boolean> {
  const { parked, approve } = context;
  if (parked === undefined) return false;
  const open = unanswered(context, parked);
  const undecided = approve ? [] : parked.waiting.map((callId) => [callId, NOBODY_DECIDED] as const);
  return await advance(context, open, parked, new Map([...undecided, ...decisions]), signal);
}

const NO_DECISIONS: ReadonlyMap<string, FinalDecision> = new Map();
const NOBODY_DECIDED: FinalDecision = { decision: 'denied', reason: 'nobody decided' };

async function advance(
  context: LoopContext,
  calls: readonly ToolCallPart[],
  before: ParkedRound,
  decisions: ReadonlyMap<string, FinalDecision>,
  signal: AbortSignal,
): Promise<boolean> {
  const { tools, environment, config, sessionId, approve, hooks, announced, emit } = context;
  const round = await runToolCalls(calls, {
    tools,
    environment,
    config,
    sessionId,
    approve,
    hooks,
    announced,
    emit,
    parallel: context.profile.supportsParallelToolCalls,
    decisions,
    skip: () => skipReason(context),
    signal,
  });
  const results = before.results.length === 0 ? round.results : [...before.results, ...round.results];
  if (round.parked.length > 0) {
    context.parked = { results, waiting: round.parked, rounds: before.rounds };
    // Only these calls: one that was parked before and is decided now has its `TOOL_CALL_END`.
    context.announced = new Set(round.parked);
    return true;
  }
  finishRound(context, results);
  return false;
}

const NONE: ReadonlySet<string> = new Set();

/** Adds the results of a round to the history, which puts them in the order of its calls. */
function finishRound(context: LoopContext, results: readonly ToolResult[]): void {
  context.parked = undefined;
  context.announced = NONE;
  context.history.appendToolResults(results);
}

function unanswered({ history }: LoopContext, { results }: ParkedRound): ToolCallPart[] {
  return history.openCalls().filter((call) => !results.some(({ callId }) => callId === call.callId));
}

/** Ends a parked round: calls that have not run are answered with `text`, the others keep their results. */
export function abandonRound(context: LoopContext, text: string): void {
  const { parked } = context;
  if (parked === undefined) return;
  const results = unanswered(context, parked).map((call) => answerWithoutRunning(call, text, context));
  finishRound(context, [...parked.results, ...results]);
}

/** Emits the missing `TOOL_CALL_END`s of parked calls. The round stays parked in the snapshot. */
export function endParkedCalls({ parked, history, announced, emit }: LoopContext): void {
  if (parked === undefined) return;
  for (const call of history.openCalls()) {
    if (!announced.has(call.callId)) continue;
    const text = 'Still parked when the session was closed.';
    answerWithoutRunning(call, text, { emit, announced, status: 'aborted' });
  }
}

function skipReason({ config, steering }: LoopContext): string | undefined {
  return config.steeringMode === 'tool_boundary' && steering.messages.length > 0
    ? 'Skipped: the user sent a new instruction before this call started.'
    : undefined;
}

/** Answers the tool calls of a response that was cut off, without running them. */
export function answerCutOff({ history, emit }: LoopContext, calls: readonly ToolCallPart[]): void {
  const text =
    'Not run: your response was cut off at the output token limit, so this call may be incomplete. ' +
    'Send it again in smaller pieces.';
  history.appendToolResults(calls.map((call) => answerWithoutRunning(call, text, { emit })));
}
