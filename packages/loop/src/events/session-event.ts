import type { JsonValue, Usage } from '@whetstone/events';
import type { SubagentReport } from '../conversation/snapshot.ts';
import type { Input } from '../conversation/turn.ts';

/**
 * Everything that a session tells its host (loop spec 2.9, with the additions of the decisions list). `kind` is the
 * spec's name. Brackets hold: `SESSION_START` … `SESSION_END`, one `PROCESSING_END` a `submit()`, and every `_START` of a
 * call, a text or a tool has its `_END`.
 */
export type SessionEventData = {
  /** Reaches a consumer first, whenever it attaches. `restored`: it goes on where a snapshot was taken. */
  SESSION_START: {
    profile: string;
    provider: string;
    model: string;
    workingDirectory: string;
    restored?: boolean;
  };
  SESSION_END: { turns: number; usage: Usage; reason: 'closed' | 'aborted' | 'error' };
  USER_INPUT: { content: Input };
  /** The end of one `submit()` and the follow-ups that it led to. */
  PROCESSING_END: ProcessingEnd;
  LLM_CALL_START: { model: string; provider: string };
  LLM_CALL_END: LlmCallEnd;
  ASSISTANT_TEXT_START: { blockId: string };
  ASSISTANT_TEXT_DELTA: { blockId: string; delta: string };
  /** `discarded`: the call failed or was aborted half way; the text is in no turn. */
  ASSISTANT_TEXT_END: { blockId: string; text: string; reasoning?: string; discarded?: boolean };
  REASONING_START: { blockId: string };
  REASONING_DELTA: { blockId: string; delta: string };
  REASONING_END: { blockId: string; text: string; discarded?: boolean };
  /** Arguments as the model writes them; nothing runs yet. */
  TOOL_CALL_DELTA: { callId: string; name: string; delta: string };
  /** `input` is the parsed JSON, or the text where it does not parse or the tool is freeform. */
  TOOL_CALL_START: { callId: string; name: string; input: JsonValue };
  /** Where the queue of a slow consumer runs full, older text of the same call may be dropped; the end event has it. */
  TOOL_CALL_OUTPUT_DELTA: { callId: string; delta: string };
  TOOL_CALL_END: ToolCallEnd;
  APPROVAL_REQUESTED: { callId: string; name: string; input: JsonValue };
  /** A tool asks the user; the session is `AWAITING_INPUT`, and `submit()` answers. */
  INPUT_REQUESTED: { callId: string; question: string; options: readonly string[] };
  APPROVAL_DECIDED: { callId: string; decision: 'approved' | 'denied'; reason?: string };
  STEERING_INJECTED: { content: Input };
  /** `value`: the limit that was reached, in the unit of its setting. */
  TURN_LIMIT: { limit: LimitKind; value: number };
  /** A subagent begins to work on an input; `run` counts its inputs from 1. `callId`: the tool call that started it. */
  SUBAGENT_START: {
    agentId: string;
    sessionId: string;
    run: number;
    callId: string;
    task: string;
    model: string;
    workingDirectory: string;
  };
  /** The end of that input. Usage and cost are those of all inputs so far. */
  SUBAGENT_END: { agentId: string; sessionId: string; run: number } & SubagentReport;
  LOOP_DETECTION: { message: string; period: number };
  WARNING: { code: WarningCode; message: string; data?: { [key: string]: JsonValue } };
  ERROR: SessionErrorData;
};

export type EventKind = keyof SessionEventData;

export type LimitKind = 'rounds' | 'turns' | 'tokens' | 'cost' | 'wall_time' | 'loop_warnings';

/**
 * Known values: `context_usage`, `context_overflow`, `retry`, `truncated_response`, `empty_response`, `provider`,
 * `reasoning_dropped`, `invalid_output`, `stop_hook`, `listener`, `deprecation`.
 */
export type WarningCode = string;

export type SessionErrorData = {
  /** An `LlmErrorCode`, or `internal`, `hook`, `blocked`, `persist`, `invalid_output`. */
  code: string;
  message: string;
};

/** Why a `submit()` came to its end. A later version may add values. */
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

export type ProcessingEnd = {
  reason: EndReason;
  /** Of this session and of what its subagents used meanwhile. */
  usage: Usage;
  /** As `usage`. Absent where the price of a call is not known. */
  costUsd?: number;
  /** Of this session alone, as `toolRounds`. */
  modelCalls: number;
  toolRounds: number;
  durationMs: number;
  /** Follow-ups that wait, because only a natural completion starts one. */
  queued: number;
  /** Calls that wait for `resume()`; with reason `parked`. */
  parked?: readonly string[];
  /** Subagents that still work. */
  runningSubagents?: readonly string[];
  error?: SessionErrorData;
};

export type LlmCallEnd = {
  model: string;
  provider: string;
  /** Absent where the provider reported none. */
  usage?: Usage;
  costUsd?: number;
  /** Of the last attempt, in milliseconds. */
  latencyMs: number;
  /** Attempts after the first. */
  retries: number;
  finish?: { unified: string; raw?: string };
  responseId?: string;
  error?: SessionErrorData;
};

export type ToolCallEnd = {
  callId: string;
  name: string;
  /** `skipped`: not started, because the user sent a new instruction. */
  status: 'completed' | 'failed' | 'rejected' | 'aborted' | 'skipped';
  /** Whole up to 1 MiB, head and tail beyond; the model got a truncated version. */
  output: string;
  outputComplete: boolean;
  isError: boolean;
  durationMs: number;
  /** What the tool says about itself, for example `{ exitCode: 1 }`. */
  details?: { [key: string]: JsonValue };
};

/** Set on the events of a subagent, whose own session is `sessionId`. */
export type SubagentOrigin = {
  agentId: string;
  parentSessionId: string;
  /** 1 for a child of the host's session. */
  depth: number;
};

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

/** How the parts of a session report. Never throws. */
export type Emit = <Kind extends EventKind>(kind: Kind, data: SessionEventData[Kind]) => void;
