import { messageOf } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';
import type { AgentContext, Turn, TurnInput } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import type { NativeAgent } from '../native/native-agent.ts';
import { likelyKind, wrongKind } from '../native/parse-native.ts';
import { priceWithoutGateway } from '../native/price-without-gateway.ts';
import type { ProgramEnd } from './dialogue.ts';
import { type KeptRecord, readKeptEvents } from './kept-events.ts';
import { leadsToGateway } from './leads-to-gateway.ts';
import { openMcpLog } from './mcp-failures.ts';
import type { MapperPlace } from './native-mapper.ts';
import type { OutputReader, Reading } from './output-reader.ts';
import type { TelemetryCollector } from './telemetry/telemetry-collector.ts';
import { type TurnOutcome, toTurn } from './to-turn.ts';
import { createTurnEvents } from './turn-events.ts';
import { callsOfTurn, usageOfTurn } from './turn-usage.ts';

/** How the program of a turn is launched. Drivers and command templates differ only in this. */
export type TurnLaunch = {
  /** `emit` takes what the host itself sees of the turn, such as its decisions. */
  run: (options: RunOptions, emit: (event: StreamEvent) => void) => Promise<ProgramEnd>;
  env: Record<string, string>;
  stdin?: RunOptions['stdin'];
  mask: NonNullable<RunOptions['mask']>;
  /** The agent's program, which can print the transcript of some agents. An absolute path or a name on the PATH. */
  program: string;
  /** The words of the command with its variables replaced. Absent for an agent that Whetstone starts itself. */
  words?: readonly string[];
  /** Whether the host found that the program is missing or cannot run. Default: the host does not check. */
  isMissing?: (result: ProgramEnd) => Promise<boolean>;
};

export type TurnSetup = {
  config: AgentConfig;
  /** The agent that prints the output. Absent: an unknown agent. */
  agent: NativeAgent | undefined;
  reader: OutputReader;
  place: MapperPlace;
  telemetry: TelemetryCollector;
  onSession: (sessionId: string) => void;
};

/** Runs one turn of a program: launches it, reads its output and the files that it kept, and sums up the turn. */
export async function runTurn(
  setup: TurnSetup,
  launch: TurnLaunch,
  input: TurnInput,
  context: AgentContext & { sandbox: Sandbox },
): Promise<Turn> {
  const { agent, reader, place, telemetry } = setup;
  const { files, session, signal, timeoutMs } = context;
  const turn = createTurnEvents(context);
  const startedAt = new Date().toISOString();
  const output = reader.begin({ isNew: session.isNew, emit: turn.add });
  const refused = new AbortController();
  const options: RunOptions = {
    ...{ env: launch.env, timeoutMs, mask: launch.mask },
    signal: AbortSignal.any([signal, refused.signal]),
    ...{ stdoutFile: files.stdoutFile, stderrFile: files.stderrFile },
    onStdout: (chunk) => {
      output.push(chunk);
      if ((output.refusals?.() ?? 0) >= LASTING_REFUSALS) refused.abort();
    },
    ...present({ stdin: launch.stdin }),
  };
  const hasServers = (place.mcpServers?.length ?? 0) > 0;
  const mcpLog =
    hasServers && agent?.mcpLog ? await openMcpLog(agent.mcpLog, { ...context, ...files }) : undefined;
  const ended = await launch.run(options, turn.add);
  // The host ended it for what the agent reported; the run was not aborted.
  const isRefused = refused.signal.aborted && !signal.aborted && ended.ended === 'abort';
  const result: ProgramEnd = isRefused ? { ...ended, ended: 'exit' } : ended;
  const reading = await endOf(output, context);
  if (reading.source !== 'text' && reading.summary.sessionId !== undefined)
    setup.onSession(reading.summary.sessionId);
  checkKind(agent, reading, turn.events);
  const kept = await keptEvents(reading);
  for (const event of [...(kept?.events ?? []), ...((await mcpLog?.()) ?? [])]) turn.add(event);
  turn.end();
  const usage = usageOfTurn(reading, kept);
  const calls = callsOfTurn(turn.events, kept, usage);
  const reportedCost = reading.source === 'text' ? undefined : reading.summary.costUsd;
  const outcome: TurnOutcome = {
    ...{ result, reading, kept, isRefused },
    spent: { usage, calls, costUsd: reportedCost ?? (await listPrice(calls)) },
    notStarted: (await launch.isMissing?.(result)) ?? false,
    telemetry: await telemetry.collect({
      reading,
      isUsageWhole: kept !== undefined,
      words: launch.words ?? [],
      files,
    }),
    data: input.outputSchema && answerIn(agent, reading),
  };
  return toTurn(setup.config, turn, outcome);

  /** Where the gateway answers, its ledger has the cost. */
  async function listPrice(seen: typeof calls): Promise<number | undefined> {
    const { config } = setup;
    const isMetered = context.lane !== undefined && leadsToGateway(config);
    return seen && !isMetered ? await priceWithoutGateway(config, seen) : undefined;
  }

  /** What a stream leaves out; `undefined` if it could not be read. */
  async function keptEvents(read: Reading): Promise<KeptRecord | undefined> {
    if (!agent || read.source !== 'stream') return { events: [] };
    return await readKeptEvents(agent, context, {
      ...{ sandbox: context.sandbox, program: launch.program, place, startedAt },
      ...{ events: turn.events, summary: read.summary },
      options: { env: launch.env, mask: launch.mask },
    });
  }
}

/** From this refusal of a key or login in a row on, more retries would only use up the time limit. */
const LASTING_REFUSALS = 3;

/** Ends the reading. Output that cannot be read becomes a gap and never changes how the turn ended. */
async function endOf(output: { end(): Promise<Reading> }, { log }: AgentContext): Promise<Reading> {
  try {
    return await output.end();
  } catch (error) {
    log(`The agent's output could not be read: ${messageOf(error)}`);
    return { source: 'text', gaps: ['transcript_unreadable'] };
  }
}

/**
 * Output of another agent's format was read as that of this one, so nothing is known of the turn.
 *
 * @throws WhetstoneError `agent-kind-wrong`
 */
function checkKind(agent: NativeAgent | undefined, reading: Reading, events: readonly StreamEvent[]): void {
  if (!agent || reading.source !== 'stream') return;
  const { lines, malformed, unknown, tooLong, otherKind } = reading.summary;
  if (otherKind === undefined && (unknown === 0 || lines > malformed + unknown + tooLong)) return;
  const items = events.flatMap((event) =>
    event.type === 'raw' ? [`${JSON.stringify(event.native)}\n`] : [],
  );
  const likely = likelyKind(Buffer.from(items.slice(0, 1_000).join('')));
  if (likely !== undefined && likely !== agent.kind) throw wrongKind(agent.kind, likely);
}

const answerIn = (agent: NativeAgent | undefined, reading: Reading) =>
  reading.source === 'stream'
    ? (agent?.stream?.answerIn?.(reading.mapper) ?? reading.summary.data)
    : undefined;
