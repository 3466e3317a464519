import { isJsonObject, type JsonValue } from '../json.ts';
import { type Loss, type LossTally, tallyLosses } from '../loss.ts';
import { present } from '../present.ts';
import {
  type AgentStep,
  eventsByAgent,
  groupSteps,
  loseUnstarted,
  type Step,
  type StepCall,
} from '../steps/group-steps.ts';
import type { StreamEvent, StreamEventOf } from '../stream-event.ts';
import { totalTokens } from '../usage.ts';
import { extraWith, type StepAnnotations } from './annotations.ts';
import { AtifError } from './atif-error.ts';
import {
  ATIF_MINORS,
  type AtifMetrics,
  type AtifResult,
  type AtifStep,
  type AtifTrajectory,
  type AtifVersion,
  LATEST_ATIF_VERSION,
} from './schema.ts';

export type WriteAtifOptions = {
  agentName: string;
  agentVersion: string;
  /** Default: the newest, 1.8. Before 1.7, the events of sub-agents cannot be written, and `session_id` is required. */
  version?: AtifVersion;
  /** Default: the id of `session.started`; before 1.7, which requires one, `unknown` if there is none. */
  sessionId?: string;
  /** The id of this document; since 1.7. */
  trajectoryId?: string;
  /** The model of steps without one. Default: the model of `session.started`. */
  modelName?: string;
  notes?: string;
};

/**
 * Writes events as an ATIF trajectory. A step is a model call with its results (see `groupSteps`), a user's message or a
 * system step. The steps of a sub-agent are an embedded trajectory of their own.
 * @returns the trajectory, valid by the format's rules, and what it could not carry.
 * @throws {AtifError} when there would be no step, because the format has no empty trajectory.
 */
export function writeAtif(
  events: readonly StreamEvent[],
  options: WriteAtifOptions,
): { trajectory: AtifTrajectory; lost: Loss[] } {
  const losses = tallyLosses();
  const agents = eventsByAgent(events);
  const session = agents.get(undefined)?.find((event) => event.type === 'session.started');
  const minor = minorOf(options.version ?? LATEST_ATIF_VERSION);
  const writer: Writer = { losses, session, agents, options, minor };
  const sessionId = options.sessionId ?? session?.sessionId ?? (minor < 7 ? 'unknown' : undefined);
  const modelName = options.modelName ?? session?.model;
  if (session) loseOfSession(session, options, losses);

  const trajectory = writeTrajectory(undefined, writer, {
    ...present({ session_id: sessionId }),
    ...present({ trajectory_id: minor < 7 ? undefined : options.trajectoryId }),
    agent: {
      name: options.agentName,
      version: options.agentVersion,
      ...present({ model_name: modelName }),
    },
    ...present({ notes: options.notes }),
  });
  if (!trajectory) {
    throw new AtifError('atif-empty', 'No event makes a step, and ATIF has no trajectory without steps.');
  }
  loseUnstarted(agents, losses);
  return { trajectory, lost: losses.list() };
}

/** Written agents are deleted from `agents`, so that those remain that nothing refers to. */
type Writer = {
  losses: LossTally;
  session: StreamEvent | undefined;
  agents: Map<string | undefined, StreamEvent[]>;
  options: WriteAtifOptions;
  minor: Minor;
};

type Minor = (typeof ATIF_MINORS)[number];

type Head = Pick<AtifTrajectory, 'agent'> &
  Partial<Pick<AtifTrajectory, 'session_id' | 'trajectory_id' | 'notes'>>;

/** The trajectory of one agent and of its sub-agents; `undefined` when it has no steps. */
function writeTrajectory(
  agentId: string | undefined,
  writer: Writer,
  head: Head,
): AtifTrajectory | undefined {
  const events = writer.agents.get(agentId) ?? [];
  writer.agents.delete(agentId);
  const embedded: AtifTrajectory[] = [];
  const steps = groupSteps(events.filter((event) => hasText(event, writer.losses)))
    .map((step) => writeStep(step, writer, embedded))
    .filter((step) => step !== undefined)
    .map((step, index): AtifStep => ({ step_id: index + 1, ...step }));
  if (steps.length === 0) return undefined;
  const { agent, notes, ...ids } = head;
  return {
    schema_version: `ATIF-v1.${writer.minor}`,
    ...ids,
    agent,
    steps,
    ...present({ notes }),
    final_metrics: totals(steps),
    ...(embedded.length === 0 ? {} : { subagent_trajectories: embedded }),
  };
}

/** The format requires a message in an agent's step, so an empty one means that there was none. */
function hasText(event: StreamEvent, losses: LossTally): boolean {
  const empty =
    (event.type === 'thinking' || (event.type === 'message' && event.role === 'assistant')) &&
    event.text === '';
  if (empty) losses.add(event.type, 'an empty text looks like no text');
  return !empty;
}

type NumberlessStep = Omit<AtifStep, 'step_id'>;

function writeStep(step: Step, writer: Writer, embedded: AtifTrajectory[]): NumberlessStep | undefined {
  if (step.kind === 'agent') return writeAgentStep(step, writer, embedded);
  if (step.kind === 'user') return writeUserStep(step.message, writer.losses);
  return writeOther(step.event, writer);
}

function writeUserStep(message: StreamEventOf<'message'>, losses: LossTally): NumberlessStep {
  loseEnvelope([message], message.turn, losses);
  return {
    ...timestamp([message]),
    source: 'user',
    message: message.text,
    ...annotate(present({ turn: message.turn })),
  };
}

const REASONS: Partial<Record<StreamEvent['type'], string>> = {
  'action.result': 'no call in the stream has its callId',
  'subagent.completed': 'no call in the stream has its callId',
  'file.changed': 'ATIF has no place for changed files',
  'approval.requested': 'ATIF has no place for approvals',
  'approval.decided': 'ATIF has no place for approvals',
  'plan.updated': 'ATIF has no place for plans',
  'skill.loaded': 'ATIF has no place for loaded skills',
  'input.requested': 'ATIF has no place for questions to a human',
  compaction: 'ATIF only shows it with a second document that continues the first',
  'session.started': 'a document has one session',
  error: 'ATIF keeps errors outside the trajectory',
  raw: 'it does not come from ATIF',
};

/** A system step that `readAtif` kept as `raw` is written again; any other `raw` is lost. */
function writeOther(event: StreamEvent, { losses, session }: Writer): NumberlessStep | undefined {
  if (event === session) return undefined;
  if (event.type === 'raw' && isSystemStep(event.native)) {
    loseEnvelope([event], undefined, losses);
    return { ...timestamp([event]), source: 'system', message: event.native.message };
  }
  const reason = REASONS[event.type];
  if (reason !== undefined) losses.add(event.type, reason);
  return undefined;
}

function isSystemStep(native: JsonValue): native is { source: 'system'; message: string } {
  if (!isJsonObject(native) || Object.keys(native).length !== 2) return false;
  return native.source === 'system' && typeof native.message === 'string';
}

function writeAgentStep(step: AgentStep, writer: Writer, embedded: AtifTrajectory[]): NumberlessStep {
  const { losses, minor } = writer;
  const { thinking, message, calls, usage } = step;
  const results = calls.flatMap((call) => call.results);
  const said: StreamEvent[] = [thinking, message, ...calls.flatMap(callEvents), ...results, usage].filter(
    (event) => event !== undefined,
  );
  loseEnvelope(said, step.turn, losses);
  const observed = calls.flatMap((call) => observe(call, writer, embedded));
  const annotations = annotationsFor(step, observed);
  return {
    ...timestamp(said),
    source: 'agent',
    message: message?.text ?? '',
    ...present({
      model_name: usage?.model,
      reasoning_content: thinking?.text,
      tool_calls: calls.length === 0 ? undefined : calls.map(toolCallOf),
      observation: observed.length === 0 ? undefined : { results: observed.map(({ result }) => result) },
      metrics: usage && metricsOf(usage),
      llm_call_count: usage && minor >= 7 ? callCount(usage) : undefined,
    }),
    ...annotate(annotations),
  };
}

type Observed = { result: AtifResult; annotation: NonNullable<StepAnnotations['results']>[number] };

/** The results of a call. The first result of a sub-agent refers to its trajectory, which is now embedded. */
function observe(call: StepCall, writer: Writer, embedded: AtifTrajectory[]): Observed[] {
  const trajectory = call.subagent && embed(call.subagent, writer);
  if (trajectory) embedded.push(trajectory);
  let reference: Partial<AtifResult> = trajectory
    ? { subagent_trajectory_ref: [{ trajectory_id: call.callId }] }
    : {};
  const observed = call.results.map((event): Observed => {
    const ofSubagent = event.type === 'subagent.completed';
    const result: AtifResult = { source_call_id: call.callId, ...contentOf(event.output) };
    if (ofSubagent) {
      Object.assign(result, reference);
      reference = {};
    }
    return {
      result,
      annotation: {
        ...(event.status === 'completed' ? {} : { status: event.status }),
        ...(event.output !== undefined && typeof event.output !== 'string' ? { json: true } : {}),
        ...(ofSubagent && call.action ? { subagent: true } : {}),
      },
    };
  });
  if (reference.subagent_trajectory_ref) {
    observed.push({ result: { source_call_id: call.callId, ...reference }, annotation: { pending: true } });
  }
  return observed;
}

function embed(
  { callId, name, remoteUrl }: StreamEventOf<'subagent.called'>,
  writer: Writer,
): AtifTrajectory | undefined {
  if (remoteUrl !== undefined) {
    writer.losses.add('subagent.called remoteUrl', 'ATIF has no place for an address');
  }
  if (!writer.agents.has(callId)) return undefined;
  if (writer.minor < 7) {
    loseAgent(callId, writer);
    return undefined;
  }
  return writeTrajectory(callId, writer, {
    trajectory_id: callId,
    agent: { name, version: writer.options.agentVersion },
  });
}

function loseAgent(callId: string, writer: Writer): void {
  const events = writer.agents.get(callId) ?? [];
  writer.agents.delete(callId);
  for (const event of events) {
    writer.losses.add(event.type, 'before ATIF 1.7 a sub-agent has no trajectory in the document');
    if (event.type === 'subagent.called') loseAgent(event.callId, writer);
  }
}

/** Absent where it is unknown. */
const callCount = ({ calls = 1 }: StreamEventOf<'usage'>): number | undefined => calls ?? undefined;

function annotationsFor(
  { turn, calls, usage, usageBeforeCalls }: AgentStep,
  observed: Observed[],
): StepAnnotations {
  const wrapped = calls.filter((call) => call.action && !isJsonObject(call.action.input));
  const results = observed.map(({ annotation }) => annotation);
  const subagents = calls.flatMap(({ callId, subagent, action }) =>
    subagent ? [{ callId, name: subagent.name, action: action !== undefined }] : [],
  );
  return {
    ...present({ turn, modelCalls: usage?.calls }),
    ...(usageBeforeCalls && calls.length > 0 ? { usageBeforeCalls } : {}),
    ...(wrapped.length === 0 ? {} : { wrappedInputs: wrapped.map((call) => call.callId) }),
    ...(results.every((result) => Object.keys(result).length === 0) ? {} : { results }),
    ...(subagents.length === 0 ? {} : { subagents }),
  };
}

const annotate = (annotations: StepAnnotations): Pick<AtifStep, 'extra'> =>
  present({ extra: extraWith(annotations) });

function callEvents({ action, subagent }: StepCall): StreamEvent[] {
  return [action, subagent].filter((event) => event !== undefined);
}

function toolCallOf({ callId, action, subagent }: StepCall): NonNullable<AtifStep['tool_calls']>[number] {
  const input = action?.input ?? {};
  return {
    tool_call_id: callId,
    function_name: action?.name ?? subagent?.name ?? '',
    arguments: isJsonObject(input) ? input : { input },
  };
}

function contentOf(output: JsonValue | undefined): Pick<AtifResult, 'content'> {
  if (output === undefined) return {};
  return { content: typeof output === 'string' ? output : JSON.stringify(output) };
}

/** ATIF counts cached tokens as part of the prompt; our buckets are exclusive. */
function metricsOf({ usage, costUsd, latencyMs }: StreamEventOf<'usage'>): AtifMetrics {
  const more = present({
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    latency_ms: latencyMs,
  });
  return {
    prompt_tokens: totalTokens(usage) - usage.outputTokens,
    completion_tokens: usage.outputTokens,
    ...present({ cached_tokens: usage.cacheReadTokens, cost_usd: costUsd }),
    ...(Object.keys(more).length === 0 ? {} : { extra: more }),
  };
}

/** Sums over the steps of this trajectory, without its sub-agents; absent where no step reports a value. */
function totals(steps: readonly AtifStep[]): NonNullable<AtifTrajectory['final_metrics']> {
  const sums = (['prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost_usd'] as const).flatMap(
    (key) => {
      const reported = steps.map((step) => step.metrics?.[key]).filter((value) => value !== undefined);
      return reported.length === 0 ? [] : [[`total_${key}`, reported.reduce((sum, value) => sum + value, 0)]];
    },
  );
  return { ...Object.fromEntries(sums), total_steps: steps.length };
}

/** A step has one time: that of its first event with a time. */
function timestamp(events: readonly StreamEvent[]): Pick<AtifStep, 'timestamp'> {
  return present({ timestamp: events.find((event) => event.at !== undefined)?.at });
}

function loseEnvelope(events: readonly StreamEvent[], turn: number | undefined, losses: LossTally): void {
  const timed = events.filter((event) => event.at !== undefined).length;
  losses.add('at', 'a step has one time: that of its first event', Math.max(0, timed - 1));
  for (const event of events) {
    if (event.source !== undefined) losses.add('source', 'ATIF does not say who saw an event');
    if (event.turn !== turn) losses.add('turn', 'a step has one turn: that of its model call');
  }
}

function loseOfSession(
  session: StreamEventOf<'session.started'>,
  { agentName, agentVersion, sessionId, modelName }: WriteAtifOptions,
  losses: LossTally,
): void {
  const replaced = (key: string, value: string | undefined, written: string | undefined) => {
    if (value !== undefined && written !== undefined && value !== written) {
      losses.add(`session.started ${key}`, 'the caller gave another value');
    }
  };
  replaced('runtime', session.runtime, agentName);
  replaced('runtimeVersion', session.runtimeVersion, agentVersion);
  replaced('sessionId', session.sessionId, sessionId);
  replaced('model', session.model, modelName);
  if (session.workingDir !== undefined) {
    losses.add('session.started workingDir', 'ATIF has no place for a directory');
  }
  for (const key of ['at', 'turn', 'source'] as const) {
    if (session[key] !== undefined) losses.add(key, 'the head of the document has the session');
  }
}

function minorOf(version: AtifVersion): Minor {
  return ATIF_MINORS.find((minor) => version === `1.${minor}`) ?? 8;
}
