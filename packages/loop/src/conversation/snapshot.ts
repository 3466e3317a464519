import type { JsonObject, Usage } from '@whetstone/events';
import type { Preamble } from './preamble.ts';
import type { HistoryTurn, Input, ToolResult } from './turn.ts';

/**
 * A session as plain JSON: everything that its next request depends on, except for the options of the host.
 * `Session.restore` takes it.
 */
export type SessionSnapshot = {
  version: 1;
  id: string;
  turns: HistoryTurn[];
  /** Absent before the first request, and after a change of the profile. */
  preamble?: Preamble;
  reasoningEffort?: string;
  /** Messages of `steer()` that the model has not read yet. */
  steering?: Input[];
  /** Inputs of `followUp()` that were not worked on yet. */
  followUps?: Input[];
  /** Calls of the last turn that wait for `resume()`. */
  parked?: ParkedRound;
  /** Arguments of parked calls as `beforeTool` has left them, by call id. The hook is not called for them again. */
  parkedArguments?: Record<string, JsonObject>;
  /** Absent where there are none, and in snapshots of older versions of this package. */
  subagents?: SubagentSnapshot[];
  /** Where the budget and the totals continue to count. */
  spent?: Spent;
  /** Number of first turns whose reasoning the provider has refused to take back. */
  foreignTurns?: number;
};

/** The tool calls of the last turn, some of which wait for a decision. A call without a result here has not run. */
export type ParkedRound = {
  results: readonly ToolResult[];
  /** Ids of the calls that wait for a decision. */
  waiting: readonly string[];
  /** Tool rounds of the same input before this one. */
  rounds: number;
};

/** The counters of a `SpendMeter` as JSON. */
export type Spent = {
  usage: Usage;
  /** US dollars. Absent as soon as the price of one call is not known. */
  costUsd?: number;
  modelCalls: number;
  toolRounds: number;
  /** As `modelCalls`, with those of subagents. */
  turns: number;
  /** As `toolRounds`, with those of subagents. */
  rounds: number;
  workedMs: number;
};

/** A subagent when the snapshot was taken. It is one level deeper than the session whose snapshot holds it. */
export type SubagentSnapshot = {
  id: string;
  /** What its session is made from again, together with the options that host and parent have then. */
  request: ChildRequest;
  model: string;
  workingDirectory: string;
  /** Number of inputs that it was given. */
  runs: number;
  /** With status `RUNNING` it was working, and a restored session finds it interrupted. */
  report: SubagentReport;
  /** Its own session, with history and subagents. Absent where the subagent was closed for good. */
  session?: SessionSnapshot;
};

/** What a parent asks for when it starts a subagent. What it leaves out is as the host and the parent have it. */
export type ChildRequest = {
  workingDirectory?: string | undefined;
  model?: string | undefined;
  maxTurns?: number | undefined;
};

export type SubagentStatus = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'ABORTED' | 'CLOSED';
/** How a subagent has ended, over all its inputs (loop spec 7.3). */
export type SubagentReport = {
  status: SubagentStatus;
  success: boolean;
  /** Its last text, or why there is none. Empty while it works. */
  output: string;
  turnsUsed: number;
  usage: Usage;
  /** US dollars. Absent where the price of a call is not known. */
  costUsd?: number;
};

const TURN_KINDS: ReadonlySet<unknown> = new Set<HistoryTurn['kind']>([
  'user',
  'assistant',
  'tool_results',
  'system',
  'steering',
]);

/** Throws a `TypeError` that says what is wrong, unless `value` is a snapshot that this version can read. */
export function checkSnapshot(value: unknown): SessionSnapshot {
  const fault = faultOf(value);
  if (fault !== undefined) throw new TypeError(`restore: ${fault}`);
  return value as SessionSnapshot;
}

function faultOf(value: unknown): string | undefined {
  if (!isRecord(value)) return 'the snapshot is not an object';
  if (value.version !== 1) return `this version reads snapshots of version 1, not ${value.version}`;
  if (typeof value.id !== 'string' || !Array.isArray(value.turns)) return '`id` or `turns` is missing';
  const odd = value.turns.findIndex((turn) => !isTurn(turn));
  if (odd >= 0) return `turns[${odd}] is not a turn`;
  const misfit = Object.entries(OPTIONAL).find(
    ([name, fits]) => value[name] !== undefined && !fits(value[name]),
  );
  return misfit && `\`${misfit[0]}\` is not what a snapshot holds there`;
}

const OPTIONAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  preamble: (value) =>
    isRecord(value) && typeof value.systemPrompt === 'string' && typeof value.environmentContext === 'string',
  reasoningEffort: (value) => typeof value === 'string',
  steering: (value) => Array.isArray(value) && value.every(isInput),
  followUps: (value) => Array.isArray(value) && value.every(isInput),
  parked: (value) =>
    isRecord(value) &&
    Array.isArray(value.results) &&
    value.results.every(isRecord) &&
    Array.isArray(value.waiting) &&
    typeof value.rounds === 'number',
  parkedArguments: (value) => isRecord(value) && Object.values(value).every(isRecord),
  subagents: (value) => Array.isArray(value) && value.every(isSubagent),
  spent: (value) => isRecord(value) && isRecord(value.usage),
  foreignTurns: (value) => typeof value === 'number',
};

function isSubagent(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, request, model, workingDirectory, runs, report, session } = value;
  return (
    [id, model, workingDirectory].every((text) => typeof text === 'string') &&
    typeof runs === 'number' &&
    isRecord(request) &&
    isRecord(report) &&
    typeof report.status === 'string' &&
    isRecord(report.usage) &&
    (session === undefined || faultOf(session) === undefined)
  );
}

function isTurn(value: unknown): boolean {
  if (!isRecord(value) || !TURN_KINDS.has(value.kind) || typeof value.id !== 'string') return false;
  if (value.kind === 'assistant') return Array.isArray(value.parts) && value.parts.every(isRecord);
  if (value.kind === 'tool_results') return Array.isArray(value.results) && value.results.every(isRecord);
  return isInput(value.content);
}

function isInput(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every(isRecord));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The snapshot as it was after an earlier turn. Throws a `RangeError` where there is no such turn.
 *
 * @param at The id of the last turn to keep, or the number of turns to keep. Where that turn made tool calls, their
 * results are kept, too.
 */
export function snapshotAt(snapshot: SessionSnapshot, at: string | number): SessionSnapshot {
  const { turns } = snapshot;
  const count = typeof at === 'number' ? at : turns.findIndex((turn) => turn.id === at) + 1;
  if (
    !Number.isInteger(count) ||
    count < 0 ||
    count > turns.length ||
    (count === 0 && typeof at === 'string')
  )
    throw new RangeError(`fork: there is no turn ${at}; the history has ${turns.length}`);
  const withResults = turns[count]?.kind === 'tool_results' ? count + 1 : count;
  if (withResults === turns.length) return snapshot;
  const { parked: _, parkedArguments: __, ...rest } = snapshot;
  return { ...rest, turns: turns.slice(0, withResults), steering: [], followUps: [] };
}
