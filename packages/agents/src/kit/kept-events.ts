import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';
import type { AgentContext } from '../agent.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from './native-mapper.ts';
import { type JsonLinesReader, readJsonLines } from './read-json-lines.ts';

/** A turn whose process has ended by itself, with what the agent kept of it. */
export type EndedTurn = {
  sandbox: Sandbox;
  program: string;
  place: MapperPlace;
  /** For whatever reads it: environment and mask of the turn. */
  options: Pick<RunOptions, 'env' | 'mask' | 'signal'>;
  /** What the stream said. */
  events: readonly StreamEvent[];
  summary: NativeSummary;
  /** ISO 8601. */
  startedAt: string;
};

/** What there is may not keep a case for longer. */
const LIMIT_MS = 60_000;

type Emit = (event: StreamEvent) => void;

/** What the agent did and used beside its stream. `undefined` when that could not be read, which is logged. */
export async function readKeptEvents(
  { kind, keptEvents }: { kind: string; keptEvents?: (turn: EndedTurn) => Promise<StreamEvent[]> },
  { log, signal }: Pick<AgentContext, 'log' | 'signal'>,
  turn: EndedTurn,
): Promise<StreamEvent[] | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    return (await keptEvents?.({ ...turn, options: { ...turn.options, signal: limit } })) ?? [];
  } catch (error) {
    log(`What ${kind} keeps of its turn: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * What a command in the sandbox prints, through a reader, however much it is.
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
  if (result.exitCode === 0 && summary.lines > 0) return summary;
  const reason =
    result.stderr.trim() || (result.exitCode === 0 ? 'it is not there' : `exit code ${result.exitCode}`);
  throw new WhetstoneError('agent-transcript-unreadable', `A transcript could not be read: ${reason}.`, {
    where: args.join(' '),
  });
}

/** The file of that name below a folder of the agent's home. Links are not followed. */
export function readHomeFile(
  turn: EndedTurn,
  { folder, name }: { folder: string; name: string },
  mapper: NativeMapper,
  emit: Emit,
): Promise<NativeSummary> {
  const path = `${turn.sandbox.home}/${folder}`;
  const command = ['find', path, '-type', 'f', '-name', name, '-exec', 'cat', '{}', '+'] as const;
  return readPrinted(turn, command, readJsonLines(mapper, emit));
}

/** Reads the transcript of one sub-agent, by its id. */
type ReadSubagent = (id: string, emit: Emit) => Promise<NativeSummary>;

/**
 * What the sub-agents of a turn did and used, theirs included, where the stream has only what they answered: as events
 * below the calls that began them.
 */
export async function subagentEvents(turn: EndedTurn, read: ReadSubagent): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  // A map takes what is added while it is gone through, and each only once.
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

/** Without what means something in a path or to `find`: whatever ran could have printed it. */
export const isPlainId = (id: string): boolean => /^\w[\w-]{7,127}$/.test(id);

/** Transcripts are of the whole session. */
export const isBefore = ({ at }: StreamEvent, moment: string): boolean => at !== undefined && at < moment;

/** None for what is of an earlier turn, or what the agent tells its model. */
function eventOfSubagent(
  event: StreamEvent,
  { id, callId }: { id: string; callId: string },
  startedAt: string,
): StreamEvent[] {
  if (isBefore(event, startedAt) || event.type === 'session.started' || event.type === 'raw') return [];
  const { turn: _, parentCallId = id, ...own } = event;
  // Alone, a transcript knows its own id, or nothing of its parent.
  return [{ ...own, parentCallId: parentCallId === id ? callId : parentCallId } as StreamEvent];
}
