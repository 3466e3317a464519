import type { ErrorCode } from '@whetstone/errors';
import type { JsonValue, Usage } from '@whetstone/events';
import type { SubagentReport } from '../conversation/snapshot.ts';
import type { Input } from '../conversation/turn.ts';

/**
 * What each event of a session carries, by `kind` (loop spec 2.9, and some kinds that the spec does not have).
 *
 * Contract: events come in order, and starts and ends pair up. `SESSION_START` is the first event and `SESSION_END` the
 * last, each `submit()` has one `PROCESSING_END`, and every `_START` of a model call, a text, a tool call or a
 * subagent's input has its `_END`.
 */
export type SessionEventData = {
  /** The first event of every consumer, however late it attaches. `restored`: the session continues from a snapshot. */
  SESSION_START: {
    profile: string;
    provider: string;
    model: string;
    workingDirectory: string;
    restored?: boolean;
  };
  /** `state` is the final state of the session; `reason` says what closed it. */
  SESSION_END: { state: 'CLOSED'; turns: number; usage: Usage; reason: 'closed' | 'aborted' | 'error' };
  USER_INPUT: { content: Input };
  /** The end of one `submit()`, with the follow-ups that it has worked on. */
  PROCESSING_END: ProcessingEnd;
  LLM_CALL_START: { model: string; provider: string };
  LLM_CALL_END: LlmCallEnd;
  ASSISTANT_TEXT_START: { blockId: string };
  ASSISTANT_TEXT_DELTA: { blockId: string; delta: string };
  /** `discarded`: the model call failed or was aborted half way, and no turn has the text. */
  ASSISTANT_TEXT_END: { blockId: string; text: string; reasoning?: string; discarded?: boolean };
  REASONING_START: { blockId: string };
  REASONING_DELTA: { blockId: string; delta: string };
  REASONING_END: { blockId: string; text: string; discarded?: boolean };
  /** Arguments while the model writes them. The call does not run yet. */
  TOOL_CALL_DELTA: { callId: string; name: string; delta: string };
  /** `input` is the parsed JSON, or the text where that is not JSON or the tool is freeform. */
  TOOL_CALL_START: { callId: string; name: string; input: JsonValue };
  /** A slow consumer may miss older text of the same call; `TOOL_CALL_END` has it. */
  TOOL_CALL_OUTPUT_DELTA: { callId: string; delta: string };
  TOOL_CALL_END: ToolCallEnd;
  APPROVAL_REQUESTED: { callId: string; name: string; input: JsonValue };
  /** A tool asks the user. The session is `AWAITING_INPUT` until `submit()` answers. */
  INPUT_REQUESTED: { callId: string; question: string; options: readonly string[] };
  APPROVAL_DECIDED: { callId: string; decision: 'approved' | 'denied'; reason?: string };
  STEERING_INJECTED: { content: Input };
  /** `value` is the limit that was reached, in the unit of its setting. */
  TURN_LIMIT: { limit: LimitKind; value: number };
  /** A subagent starts to work on an input. `run` counts its inputs from 1; `callId` is the tool call with that input. */
  SUBAGENT_START: {
    agentId: string;
    sessionId: string;
    run: number;
    callId: string;
    task: string;
    model: string;
    workingDirectory: string;
  };
  /** The end of that input. Usage and cost are those of all inputs of the subagent so far. */
  SUBAGENT_END: { agentId: string; sessionId: string; run: number } & SubagentReport;
  LOOP_DETECTION: { message: string; period: number };
  WARNING: { code: WarningCode; message: string; data?: { [key: string]: JsonValue } };
  ERROR: SessionErrorData;
};

export type EventKind = keyof SessionEventData;

/**
 * Which limit was reached.
 * - `rounds`, `turns`: of `SessionConfig` or of the budget.
 * - `tokens`, `cost`, `wall_time`: of the budget.
 * - `loop_warnings`: `SessionConfig.maxLoopWarnings`.
 */
export type LimitKind = 'rounds' | 'turns' | 'tokens' | 'cost' | 'wall_time' | 'loop_warnings';

/** What a warning is about. Later versions may add values. */
export type WarningCode =
  | 'context-overflow'
  | 'context-usage'
  | 'listener-failed'
  | 'model-retry'
  | 'output-invalid'
  | 'provider'
  | 'reasoning-dropped'
  | 'response-empty'
  | 'response-truncated'
  | 'stop-hook';

export type SessionErrorData = {
  /** An `LlmErrorCode`, or what failed in the session itself: `hook-failed`, `input-blocked`, `output-invalid`, … */
  code: ErrorCode;
  message: string;
};

/** Why a `submit()` has ended. Later versions may add values. */
export type EndReason =
  | 'completed'
  | 'tool_rounds'
  | 'turns'
  | 'tokens'
  | 'cost'
  | 'wall_time'
  | 'loop'
  | 'blocked'
  | 'parked'
  | 'interrupted'
  | 'aborted'
  | 'refused'
  | 'context_overflow'
  | 'error';

/** The outcome of a `submit()`. */
export type ProcessingEnd = {
  reason: EndReason;
  /** Of this session, and of its subagents in the meantime. */
  usage: Usage;
  /** US dollars, of the same calls as `usage`. Absent where the price of one of them is not known. */
  costUsd?: number;
  /** Of this session only. */
  modelCalls: number;
  /** Of this session only: responses of the model with tool calls. */
  toolRounds: number;
  durationMs: number;
  /** Follow-ups and steering messages that wait. Only an input that ends with `completed` starts the next follow-up. */
  queued: number;
  /** With reason `parked`: ids of the tool calls that wait for `resume()`. */
  parked?: readonly string[];
  /** Ids of the subagents that are still working. */
  runningSubagents?: readonly string[];
  error?: SessionErrorData;
};

/** The outcome of a model call, with its retries. */
export type LlmCallEnd = {
  model: string;
  provider: string;
  /** Of all attempts that the provider reported one for. Absent where it reported none. */
  usage?: Usage;
  /** Number of attempts that the provider may have begun to answer, and reported no usage for. Absent where there are none. */
  unseenUsage?: number;
  /** US dollars. Absent where the price is not known. */
  costUsd?: number;
  /** Milliseconds that the last attempt took. */
  latencyMs: number;
  /** Attempts after the first. */
  retries: number;
  finish?: { unified: string; raw?: string };
  responseId?: string;
  error?: SessionErrorData;
};

/** The outcome of a tool call. */
export type ToolCallEnd = {
  callId: string;
  name: string;
  /** `skipped`: the call was not started, because the user had sent a new instruction. */
  status: 'completed' | 'failed' | 'rejected' | 'aborted' | 'skipped';
  /** The whole output up to 1 MiB, its head and tail beyond. The model reads a truncated version. */
  output: string;
  outputComplete: boolean;
  isError: boolean;
  durationMs: number;
  /** What the tool reports to the host only, for example `{ exitCode: 1 }`. */
  details?: { [key: string]: JsonValue };
};

/** Where an event of a subagent comes from. The `sessionId` of such an event is that of the subagent's own session. */
export type SubagentOrigin = {
  agentId: string;
  parentSessionId: string;
  /** 1 for a subagent of the host's session, 2 for a subagent of that, and so on. */
  depth: number;
};

/** One event. `timestamp` is ISO 8601 UTC; `subagent` is set on the events of subagents. */
export type SessionEvent = {
  [Kind in EventKind]: {
    kind: Kind;
    timestamp: string;
    sessionId: string;
    data: SessionEventData[Kind];
    subagent?: SubagentOrigin;
  };
}[EventKind];

export type SessionEventOf<Kind extends EventKind> = Extract<SessionEvent, { kind: Kind }>;

/** Sends an event to the host. Must not throw. */
export type Emit = <Kind extends EventKind>(kind: Kind, data: SessionEventData[Kind]) => void;
