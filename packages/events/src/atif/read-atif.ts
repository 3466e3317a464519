import { contentText } from '../content-text.ts';
import { type JsonValue, jsonOrText } from '../json.ts';
import { type Loss, type LossTally, tallyLosses } from '../loss.ts';
import { present } from '../present.ts';
import type { EventEnvelope, StreamEvent } from '../stream-event.ts';
import type { Usage } from '../usage.ts';
import { annotationsOf, type StepAnnotations } from './annotations.ts';
import { AtifError } from './atif-error.ts';
import {
  type ReadableContent,
  type ReadableResult,
  type ReadableStep,
  type ReadableTrajectory,
  readableTrajectory,
} from './readable.ts';
import { loseOfStep, loseOfTrajectory } from './unread-keys.ts';

export type AtifMetadata = {
  /** As the document has it, for example `ATIF-v1.7`. */
  schemaVersion: string;
  sessionId?: string;
  trajectoryId?: string;
  agentName: string;
  agentVersion?: string;
  model?: string;
  notes?: string;
  /** The document's own totals; `cached` is part of `prompt`. */
  totals?: { promptTokens?: number; completionTokens?: number; cachedTokens?: number; costUsd?: number };
};

/**
 * Reads an ATIF document of any version 1.x. It is lenient: unknown keys and later minor versions are listed in `lost`,
 * not refused. The events of a step come in the order thinking, message, calls, results, usage; the first event has the
 * step's time. A system step becomes `raw`, because a message has no such role. A step that is a copy from an earlier
 * document is left out, so that nothing counts twice. Embedded trajectories become the events of sub-agents.
 * @param document the result of `JSON.parse`.
 * @throws {AtifError} when it is not an ATIF document, with the path of the problem.
 */
export function readAtif(document: unknown): { events: StreamEvent[]; metadata: AtifMetadata; lost: Loss[] } {
  const losses = tallyLosses();
  const { events, metadata } = readTrajectory(document, { losses, path: [], parentCallId: undefined });
  return { events, metadata, lost: losses.list() };
}

/** How deeply sub-agents may be nested, because a document can be made to exhaust the stack. */
const MAXIMUM_DEPTH = 100;

type ReadPosition = { losses: LossTally; path: (string | number)[]; parentCallId: string | undefined };

function readTrajectory(
  document: unknown,
  place: ReadPosition,
): { events: StreamEvent[]; metadata: AtifMetadata; name: string } {
  const { losses, path, parentCallId } = place;
  if (path.length > 2 * MAXIMUM_DEPTH) {
    throw new AtifError('atif-invalid', 'Sub-agents are nested too deeply.', { where: path.join('.') });
  }
  const parsed = readableTrajectory.safeParse(document);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = [...path, ...(issue?.path ?? [])].join('.');
    throw new AtifError('atif-invalid', issue?.message ?? 'This is not ATIF.', { where });
  }
  const trajectory = parsed.data;
  loseOfTrajectory(trajectory, losses);
  const metadata = metadataOf(trajectory);
  const embedded = new EmbeddedTrajectories(trajectory.subagent_trajectories ?? [], place);
  const events = trajectory.steps.flatMap((step) =>
    readStep(step, { losses, embedded, model: metadata.model, envelope: present({ parentCallId }) }),
  );
  if (parentCallId !== undefined) loseOfSubagent(metadata, losses);
  const session: StreamEvent[] = parentCallId === undefined ? [sessionStarted(metadata)] : [];
  return { events: [...session, ...events, ...embedded.rest()], metadata, name: metadata.agentName };
}

/** The trajectories inside a document, by id. Each is read once. */
class EmbeddedTrajectories {
  readonly #unread = new Map<string, { document: unknown; index: number }>();
  readonly #place: ReadPosition;

  constructor(documents: readonly unknown[], place: ReadPosition) {
    this.#place = place;
    for (const [index, document] of documents.entries()) {
      const id = (document as { trajectory_id?: unknown } | null)?.trajectory_id;
      const key = typeof id === 'string' ? id : `subagent_trajectories.${index}`;
      if (this.#unread.has(key))
        place.losses.add('subagent_trajectories', 'another one has the same trajectory_id');
      else this.#unread.set(key, { document, index });
    }
  }

  /** Its events, as those of the sub-agent that `callId` started; `undefined` if it is missing or already read. */
  take(id: string, callId: string): { events: StreamEvent[]; name: string } | undefined {
    const found = this.#unread.get(id);
    if (!found) return undefined;
    this.#unread.delete(id);
    const path = [...this.#place.path, 'subagent_trajectories', found.index];
    return readTrajectory(found.document, { ...this.#place, path, parentCallId: callId });
  }

  /** The trajectories that no step refers to: they ran, but nothing says how they ended. */
  rest(): StreamEvent[] {
    return [...this.#unread.keys()].flatMap((id) => {
      const taken = this.take(id, id);
      if (!taken) return [];
      const called = { type: 'subagent.called', callId: id, name: taken.name } as const;
      return [{ ...called, ...present({ parentCallId: this.#place.parentCallId }) }, ...taken.events];
    });
  }
}

type StepContext = {
  losses: LossTally;
  embedded: EmbeddedTrajectories;
  model: string | undefined;
  envelope: EventEnvelope;
};

function readStep(step: ReadableStep, context: StepContext): StreamEvent[] {
  const { losses } = context;
  if (step.is_copied_context) {
    losses.add('step.is_copied_context', 'a copy of a step of another document');
    return [];
  }
  const annotations = annotationsOf(step.extra);
  loseOfStep(step, annotations !== undefined, losses);
  const envelope = { ...context.envelope, ...present({ turn: annotations?.turn }) };
  const events = eventsOfStep(step, annotations ?? {}, { ...context, envelope });
  return withTime(events, step.timestamp, losses);
}

function eventsOfStep(step: ReadableStep, annotations: StepAnnotations, context: StepContext): StreamEvent[] {
  const message = textOf(step.message, 'message', context.losses);
  if (step.source === 'agent') return readAgentStep(step, message, annotations, context);
  const results = (step.observation?.results ?? []).map((result) => unmatched(result, context));
  if (step.source === 'user') {
    return [{ type: 'message', role: 'user', text: message, ...context.envelope }, ...results];
  }
  if (step.source !== 'system') {
    context.losses.add(`step.source ${step.source}`, 'an unknown source: kept as raw');
  }
  return [{ type: 'raw', native: { source: step.source, message }, ...context.envelope }, ...results];
}

function readAgentStep(
  step: ReadableStep,
  message: string,
  annotations: StepAnnotations,
  context: StepContext,
): StreamEvent[] {
  const { losses } = context;
  const events: StreamEvent[] = [];
  if (step.reasoning_content) {
    events.push({ type: 'thinking', text: step.reasoning_content, ...context.envelope });
  }
  if (message !== '') events.push({ type: 'message', role: 'assistant', text: message, ...context.envelope });

  const usage = usageOf(step, annotations, context);
  if (usage && annotations.usageBeforeCalls) events.push(usage);

  const results = (step.observation?.results ?? []).map((result, index) => ({
    result,
    annotation: annotations.results?.[index] ?? {},
  }));
  const calls = (step.tool_calls ?? []).map((call) => {
    const own = results.filter(({ result }) => result.source_call_id === call.tool_call_id);
    return { call, own, delegation: delegationOf(call, own, annotations, context) };
  });
  for (const { call, delegation } of calls) {
    const callId = call.tool_call_id;
    const input = call.arguments ?? {};
    if (!delegation || delegation.action) {
      const wrapped = annotations.wrappedInputs?.includes(callId) ?? false;
      events.push({
        type: 'action.called',
        callId,
        name: call.function_name,
        input: wrapped ? (input.input ?? null) : input,
        ...context.envelope,
      });
    }
    if (delegation) {
      events.push({ type: 'subagent.called', callId, name: delegation.name, ...context.envelope });
    }
  }
  for (const { call, own, delegation } of calls) {
    events.push(...(delegation?.events ?? []));
    for (const { result, annotation } of own) {
      if (annotation.pending) continue;
      const { status = 'completed', json } = annotation;
      const content = result.content == null ? undefined : textOf(result.content, 'result', losses);
      const output = json && content !== undefined ? jsonOrText(content) : content;
      const fields = { callId: call.tool_call_id, ...present({ output }), ...context.envelope };
      const ofSubagent = delegation && (!delegation.action || annotation.subagent);
      if (ofSubagent || result === delegation?.report) {
        const ending = status === 'completed' ? status : 'failed';
        events.push({ type: 'subagent.completed', ...fields, status: ending });
      }
      if (!ofSubagent) events.push({ type: 'action.result', ...fields, status });
    }
  }
  const called = new Set(calls.map(({ call }) => call.tool_call_id));
  for (const { result } of results) {
    if (result.source_call_id == null || !called.has(result.source_call_id)) {
      events.push(unmatched(result, context));
    }
  }
  if (usage && !annotations.usageBeforeCalls) events.push(usage);
  return events;
}

type Delegation = {
  name: string;
  action: boolean;
  events: StreamEvent[];
  /** The result of the call, which is also the sub-agent's report. */
  report?: ReadableResult;
};

/** The sub-agent that a call started. Our own documents say so; in others, a result refers to its trajectory. */
function delegationOf(
  call: NonNullable<ReadableStep['tool_calls']>[number],
  own: { result: ReadableResult }[],
  annotations: StepAnnotations,
  { embedded, losses }: StepContext,
): Delegation | undefined {
  const annotation = annotations.subagents?.find(({ callId }) => callId === call.tool_call_id);
  const references = own.flatMap(({ result }) => result.subagent_trajectory_ref ?? []);
  const events: StreamEvent[] = [];
  let name: string | undefined;
  for (const { trajectory_id: id } of references) {
    const taken = id == null ? undefined : embedded.take(id, call.tool_call_id);
    if (!taken) losses.add('subagent_trajectory_ref', 'the trajectory is not in the document');
    else {
      events.push(...taken.events);
      name ??= taken.name;
    }
  }
  if (annotation) return { name: annotation.name, action: annotation.action, events };
  const report = own.find(({ result }) => result.subagent_trajectory_ref?.length)?.result;
  return report && { name: name ?? call.function_name, action: true, events, report };
}

/** A result that belongs to no call of its step is kept whole. */
function unmatched(result: ReadableResult, { losses, envelope }: StepContext): StreamEvent {
  for (const _ of result.subagent_trajectory_ref ?? []) {
    losses.add('subagent_trajectory_ref', 'no call of the step started the sub-agent');
  }
  return { type: 'raw', native: { observation: result as JsonValue }, ...envelope };
}

const callsOf = ({ llm_call_count: count }: ReadableStep): number | undefined =>
  count != null && count > 1 ? count : undefined;

function usageOf(
  step: ReadableStep,
  annotations: StepAnnotations,
  { losses, model, envelope }: StepContext,
): StreamEvent | undefined {
  const { metrics } = step;
  if (!metrics) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached } = metrics;
  if (prompt === undefined && completion === undefined) {
    losses.add('metrics', 'they report no tokens');
    return undefined;
  }
  if (prompt === undefined) losses.add('metrics.prompt_tokens', 'not reported: read as 0');
  if (completion === undefined) losses.add('metrics.completion_tokens', 'not reported: read as 0');
  const written = countOf(metrics.extra?.cache_write_tokens);
  const reasoning = countOf(metrics.extra?.reasoning_tokens);
  const latencyMs = numberOf(metrics.extra?.latency_ms);
  const uncached = (prompt ?? 0) - (cached ?? 0) - (written ?? 0);
  if (uncached < 0) losses.add('metrics.cached_tokens', 'more than prompt_tokens, which includes them');
  const usage: Usage = {
    inputTokens: Math.round(Math.max(0, uncached)),
    outputTokens: Math.round(completion ?? 0),
    ...present({
      cacheReadTokens: cached === undefined ? undefined : Math.round(cached),
      cacheWriteTokens: written,
      reasoningTokens: reasoning,
    }),
  };
  const calls = annotations.modelCalls !== undefined ? annotations.modelCalls : callsOf(step);
  const said = present({ calls, model: step.model_name ?? model, costUsd: metrics.cost_usd, latencyMs });
  return { type: 'usage', usage, ...said, ...envelope };
}

/** The text of a content. Other parts are files beside the document, which events cannot carry. */
const textOf = (content: ReadableContent, where: string, losses: LossTally): string =>
  contentText(content ?? '', (type) => losses.add(`${where} ${type}`, 'events only carry text'));

/** The first event of a step has the step's time. Nothing says when the others happened. */
function withTime(events: StreamEvent[], time: string | null | undefined, losses: LossTally): StreamEvent[] {
  const [first, ...others] = events;
  if (!first || time == null) return events;
  const milliseconds = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`);
  if (Number.isNaN(milliseconds)) {
    losses.add('step.timestamp', 'not an ISO 8601 time');
    return events;
  }
  return [{ ...first, at: new Date(milliseconds).toISOString() }, ...others];
}

function metadataOf(trajectory: ReadableTrajectory): AtifMetadata {
  const { agent, final_metrics } = trajectory;
  const totals = present({
    promptTokens: final_metrics?.total_prompt_tokens,
    completionTokens: final_metrics?.total_completion_tokens,
    cachedTokens: final_metrics?.total_cached_tokens,
    costUsd: final_metrics?.total_cost_usd,
  });
  return {
    schemaVersion: trajectory.schema_version,
    ...present({ sessionId: trajectory.session_id, trajectoryId: trajectory.trajectory_id }),
    agentName: agent.name,
    ...present({ agentVersion: agent.version, model: agent.model_name, notes: trajectory.notes }),
    ...(Object.keys(totals).length > 0 && { totals }),
  };
}

function loseOfSubagent({ agentVersion, notes }: AtifMetadata, losses: LossTally): void {
  const reason = 'events do not have it for a sub-agent';
  if (agentVersion !== undefined) losses.add('agent.version', reason);
  if (notes !== undefined) losses.add('trajectory.notes', reason);
}

function sessionStarted({ sessionId, agentName, agentVersion, model }: AtifMetadata): StreamEvent {
  return {
    type: 'session.started',
    ...present({ sessionId }),
    runtime: agentName,
    ...present({ runtimeVersion: agentVersion, model }),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
