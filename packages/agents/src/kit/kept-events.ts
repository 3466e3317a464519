import { basename } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { AgentFacts, StreamEvent, StreamEventOf } from '@whetstone/events';
import { filesBelow, type RunOptions, readKeptFile, type Sandbox } from '@whetstone/sandbox';
import type { AgentContext } from '../agent.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from './native-mapper.ts';
import { type JsonLinesReader, readJsonLines } from './read-json-lines.ts';

/** A turn whose process has ended, as far as its stream reported it, and where to find what the agent kept. */
export type EndedTurn = {
  sandbox: Sandbox;
  program: string;
  place: MapperPlace;
  /** Options for commands that read the kept files: environment and mask of the turn. */
  options: Pick<RunOptions, 'env' | 'mask' | 'signal'>;
  events: readonly StreamEvent[];
  summary: NativeSummary;
  /** ISO 8601. */
  startedAt: string;
};

/** What the files of an agent report of a turn, and its stream does not. */
export type KeptRecord = {
  events: StreamEvent[];
  facts?: AgentFacts;
  /** Each model call of the turn, for a stream that only has their sum. Counts if it adds up to that sum. */
  calls?: StreamEventOf<'usage'>[];
};

/** Time limit for reading the kept files of one turn. */
const LIMIT_MS = 60_000;

type Emit = (event: StreamEvent) => void;

/** What the stream left out. `undefined` if it could not be read; this logs the reason. */
export async function readKeptEvents(
  { kind, keptEvents }: { kind: string; keptEvents?: (turn: EndedTurn) => Promise<KeptRecord> },
  { log, signal }: Pick<AgentContext, 'log' | 'signal'>,
  turn: EndedTurn,
): Promise<KeptRecord | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    return (await keptEvents?.({ ...turn, options: { ...turn.options, signal: limit } })) ?? { events: [] };
  } catch (error) {
    log(`What ${kind} keeps of its turn: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * Runs a command in the sandbox and reads its output, of any size, with a reader.
 *
 * @throws WhetstoneError `agent-transcript-unreadable` when it fails, or prints nothing
 */
export async function readPrinted(
  { sandbox, options }: EndedTurn,
  [program, ...args]: readonly [string, ...string[]],
  reader: JsonLinesReader,
): Promise<NativeSummary> {
  const result = await sandbox.runCommand(program, args, { ...options, onStdout: reader.push });
  const summary = reader.end();
  if (result.exitCode === 0 && summary.lines > 0 && !summary.hasInvalidUsage) return summary;
  const failed = result.exitCode === 0 ? undefined : `exit code ${result.exitCode}`;
  throw unreadable(result.stderr.trim() || (failed ?? whyNot(summary)), args.join(' '));
}

const whyNot = ({ hasInvalidUsage }: NativeSummary): string =>
  hasInvalidUsage ? 'a number of tokens is not a count' : 'it does not exist';

const unreadable = (reason: string, where: string): WhetstoneError =>
  new WhetstoneError('agent-transcript-unreadable', `The transcript cannot be read: ${reason}.`, { where });

/**
 * Reads the files of that name below a folder of the agent's home: `*` in it stands for any text. The host reads them, so
 * that no program which the agent could have replaced stands between. Does not follow links.
 *
 * @throws WhetstoneError `agent-transcript-unreadable` when there is none
 */
export async function readHomeFile(
  { sandbox, options: { mask, signal } }: EndedTurn,
  { folder, name }: { folder: string; name: string },
  mapper: NativeMapper,
  emit: Emit,
): Promise<NativeSummary> {
  const home = sandbox.hostPath(sandbox.home);
  const [start = '', end] = name.split('*');
  const isWanted = (found: string): boolean =>
    end === undefined ? found === name : found.startsWith(start) && found.endsWith(end);
  const reader = readJsonLines(mapper, emit);
  for await (const path of filesBelow(home, folder)) {
    signal?.throwIfAborted();
    if (!isWanted(basename(path))) continue;
    const stream = mask?.stream();
    for await (const chunk of readKeptFile(home, path, { signal }))
      reader.push(stream ? stream.push(chunk) : chunk);
    if (stream) reader.push(stream.end());
  }
  const summary = reader.end();
  if (summary.lines > 0 && !summary.hasInvalidUsage) return summary;
  throw unreadable(whyNot(summary), `${folder}/${name}`);
}

/** Reads the transcript of one sub-agent, by its id. */
type ReadSubagent = (id: string, emit: Emit) => Promise<NativeSummary>;

/** Events and usage of all sub-agents of a turn. Each event has the call that started the sub-agent as its parent. */
export async function subagentEvents(turn: EndedTurn, read: ReadSubagent): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  // The loop also visits entries that are added meanwhile, each once.
  const open = new Map(Object.entries(turn.summary.subagents ?? {}));
  for (const [id, callId] of open) {
    if (!isPlainId(id)) continue;
    const emit = (event: StreamEvent) =>
      events.push(...eventOfSubagent(event, { id, callId }, turn.startedAt));
    const { subagents = {} } = await read(id, emit);
    for (const [child, childCallId] of Object.entries(subagents)) {
      if (!open.has(child)) open.set(child, childCallId);
    }
  }
  return events;
}

/** Whether an id is safe in a path and for `find`. Any program in the sandbox could have printed it. */
export const isPlainId = (id: string): boolean => /^\w[\w-]{7,127}$/.test(id);

/** Collects the model calls of a turn from a transcript. */
export function collectCalls(turn: EndedTurn): { calls: StreamEventOf<'usage'>[]; take: Emit } {
  const calls: StreamEventOf<'usage'>[] = [];
  return {
    calls,
    take(event) {
      if (event.type === 'usage' && !isBefore(event, turn.startedAt)) calls.push(event);
    },
  };
}

/** Whether an event belongs to an earlier turn. Transcripts cover the whole session. */
export const isBefore = ({ at }: StreamEvent, moment: string): boolean => at !== undefined && at < moment;

/** The event under its parent call. None for an event of an earlier turn, and for `session.started` and `raw`. */
function eventOfSubagent(
  event: StreamEvent,
  { id, callId }: { id: string; callId: string },
  startedAt: string,
): StreamEvent[] {
  if (isBefore(event, startedAt) || event.type === 'session.started' || event.type === 'raw') return [];
  const { turn: _, parentCallId = id, ...fields } = event;
  // By itself, a transcript has no parent, or its own id as the parent.
  return [{ ...fields, parentCallId: parentCallId === id ? callId : parentCallId } as StreamEvent];
}
