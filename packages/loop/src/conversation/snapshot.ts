import type { JsonObject, Usage } from '@whetstone/events';
import { isJsonObject } from '@whetstone/events/json';
import { problemOfContent, problemOfResult, problemOfTurns } from './check-turn.ts';
import type { Preamble } from './preamble.ts';
import type { HistoryTurn, Input, ToolResult } from './turn.ts';

/** A session as plain JSON: all that its next request depends on, except the host's options. For `Session.restore`. */
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
  /** What the answer has to fit of the input whose calls are parked. */
  outputSchema?: JsonObject;
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

/** Throws a `TypeError` that says what is wrong, unless `value` is a snapshot that this version can read. */
export function checkSnapshot(value: unknown): SessionSnapshot {
  const problem = problemOf(value);
  if (problem === undefined) return value as SessionSnapshot;
  throw new TypeError(`restore: ${problem}`);
}

/** Looks at every turn, and at what a session relies on at its start. The rest is left to those who read it. */
function problemOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'the snapshot is not an object';
  const { version, id, turns } = value;
  if (version !== 1) return `this version reads snapshots of version 1, not ${String(version)}`;
  if (typeof id !== 'string' || !Array.isArray(turns)) return '`id` or `turns` is missing';
  const problem = problemOfTurns(turns) ?? problemOfWaiting(value);
  if (problem !== undefined) return problem;
  const field = Object.keys(FIELDS).find((name) => value[name] !== undefined && !FIELDS[name]?.(value[name]));
  return field === undefined ? undefined : `\`${field}\` is not what a snapshot holds there`;
}

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Whether the value is an object whose fields pass the checks. */
const has =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isJsonObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** What is wrong with the messages and results that are not in the history yet. */
function problemOfWaiting({ steering, followUps, parked }: JsonObject): string | undefined {
  const results = isJsonObject(parked) ? parked.results : undefined;
  for (const [path, items, problemOf] of [
    ['steering', steering, problemOfContent],
    ['followUps', followUps, problemOfContent],
    ['parked.results', results, problemOfResult],
  ] as const) {
    if (!Array.isArray(items)) continue;
    for (const [index, item] of items.entries()) {
      const problem = problemOf(item, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

const isSubagent: Check = (value) =>
  has({
    id: isString,
    request: isJsonObject,
    model: isString,
    workingDirectory: isString,
    runs: isNumber,
    report: has({ status: isString, usage: isJsonObject }),
    session: (session) => session === undefined || problemOf(session) === undefined,
  })(value);

const FIELDS: Readonly<Record<string, Check>> = {
  preamble: has({ systemPrompt: isString, environmentContext: isString }),
  reasoningEffort: isString,
  steering: Array.isArray,
  followUps: Array.isArray,
  parked: has({ results: Array.isArray, waiting: Array.isArray, rounds: isNumber }),
  parkedArguments: (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  outputSchema: isJsonObject,
  subagents: isListOf(isSubagent),
  spent: has({ usage: isJsonObject }),
  foreignTurns: isNumber,
};

/**
 * The snapshot as it was after an earlier turn. Throws a `RangeError` where there is no such turn.
 *
 * @param at The id of the last turn to keep, or the number of turns to keep. Where that turn made tool calls, their
 * results are kept, too.
 */
export function snapshotAt(snapshot: SessionSnapshot, at: string | number): SessionSnapshot {
  const { turns } = snapshot;
  const count = typeof at === 'number' ? at : turns.findIndex((turn) => turn.id === at) + 1;
  const least = typeof at === 'string' ? 1 : 0;
  if (!Number.isInteger(count) || count < least || count > turns.length)
    throw new RangeError(`fork: there is no turn ${at}; the history has ${turns.length}`);
  const withResults = turns[count]?.kind === 'tool_results' ? count + 1 : count;
  if (withResults === turns.length) return snapshot;
  const { parked: _, parkedArguments: __, outputSchema: ___, ...rest } = snapshot;
  return { ...rest, turns: turns.slice(0, withResults), steering: [], followUps: [] };
}
