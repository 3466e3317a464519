import type { z } from 'zod';
import { contentText } from '../content-text.ts';
import { isJsonObject, type JsonValue, jsonOrText } from '../json.ts';
import type { LossTally } from '../loss.ts';
import { present } from '../present.ts';
import type { StreamEvent } from '../stream-event.ts';
import { AgentSpans, type SpanScope } from './agent-spans.ts';
import {
  anyEventSchema,
  approvalEventSchema,
  type ContentPart,
  compactionEventSchema,
  errorEventSchema,
  inputEventSchema,
  type Message,
  type ModelEvent,
  messageSchema,
  modelEventSchema,
  sampleLimitEventSchema,
  spanBeginSchema,
  spanEndSchema,
  stepEventSchema,
  type ToolEvent,
  toolEventSchema,
} from './log-shapes.ts';
import { toUsage } from './model-usage.ts';

export type TranscriptOptions = {
  losses: LossTally;
  resolve: (value: JsonValue) => JsonValue;
  /** The messages that `input_refs` of model events refer to. */
  pool: readonly JsonValue[];
};

/**
 * Turns the events of one sample's transcript into ours, one by one and in order. A model event gives what is new in its
 * input (messages of the user; results of tools that an agent ran outside Inspect), then its reply, then its usage.
 * Events of scorers are left out, because scorers judge the agent. Events of a nested agent have a `parentCallId`.
 */
export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #spans = new AgentSpans();
  readonly #events: StreamEvent[] = [];
  readonly #seenMessages = new Set<string>();
  readonly #called = new Set<string>();
  readonly #answered = new Map<string, 'completed' | 'failed' | 'rejected'>();
  readonly #approvals = new Set<string>();

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  add(value: JsonValue): void {
    const { losses } = this.#options;
    const base = anyEventSchema.safeParse(value);
    if (!base.success) {
      losses.add('event', UNKNOWN_SHAPE);
      return;
    }
    const { event: kind, span_id, timestamp } = base.data;
    if (kind === 'span_begin' || kind === 'span_end' || kind === 'step') {
      const lost = this.#addSpan(kind, value);
      if (lost !== undefined) losses.add(kind, lost);
      return;
    }
    const scope = this.#spans.scopeOf(span_id);
    if (scope.scorer) {
      losses.add(`${kind} in a scorer`, 'a scorer is not the agent');
      return;
    }
    const lost = this.#read(kind, value, { scope, at: isoTime(timestamp) });
    if (lost !== undefined) losses.add(kind, lost);
  }

  addConversation(messages: readonly JsonValue[]): void {
    const place: SpanPosition = { scope: this.#spans.scopeOf(undefined), at: undefined };
    for (const [position, raw] of messages.entries()) {
      const message = this.#message(raw);
      if (message?.role === 'assistant') this.#addReply(message, place);
      else if (message) this.#addInput(message, position, place);
    }
  }

  /** The events by time. Events of the same time, or without a time, stay in the order of the log. */
  finish(): StreamEvent[] {
    let latest = 0;
    return this.#events
      .map((event) => {
        if (event.at !== undefined) latest = Date.parse(event.at);
        return { event, time: latest };
      })
      .sort((a, b) => a.time - b.time)
      .map(({ event }) => event);
  }

  /** @returns why the event is lost, if it is. */
  #read(kind: string, value: JsonValue, place: SpanPosition): string | undefined {
    switch (kind) {
      case 'model':
        return read(modelEventSchema, value, (event) => this.#addModelCall(event, place));
      case 'tool':
        return read(toolEventSchema, value, (event) => this.#addToolResult(event, place));
      case 'approval':
        return read(approvalEventSchema, value, (event) => this.#addApproval(event, place));
      case 'compaction':
        return read(compactionEventSchema, value, (event) => {
          this.#emit({ type: 'compaction' }, place);
          const counted = event.tokens_before != null || event.tokens_after != null;
          this.#options.losses.add('compaction.tokens', 'events count messages', counted ? 1 : 0);
        });
      case 'error':
        return read(errorEventSchema, value, ({ error }) =>
          this.#emit({ type: 'error', message: error.message }, place),
        );
      case 'sample_limit':
        return read(sampleLimitEventSchema, value, ({ type, message }) =>
          this.#emit({ type: 'error', message: `limit ${type ?? 'of the sample'}: ${message ?? ''}` }, place),
        );
      case 'input':
        return read(inputEventSchema, value, ({ input }) =>
          this.#emit({ type: 'message', role: 'user', text: String(this.#options.resolve(input)) }, place),
        );
      case 'score':
      case 'score_edit':
        return 'the scores are beside the events';
      case 'sample_init':
        return 'it repeats the sample';
      default:
        return 'events have no place for it';
    }
  }

  #emit(event: StreamEvent, { scope, at }: SpanPosition): void {
    this.#events.push({ ...event, ...present({ at, parentCallId: scope.parentCallId }) });
  }

  #addSpan(kind: 'span_begin' | 'span_end' | 'step', value: JsonValue): string | undefined {
    if (kind === 'step') return read(stepEventSchema, value, (step) => this.#spans.step(step));
    if (kind === 'span_begin') {
      return read(spanBeginSchema, value, (span) => {
        const started = this.#spans.begin(span);
        if (!started || started.outside.scorer) return;
        const place = { scope: started.outside, at: isoTime(span.timestamp) };
        this.#emit({ type: 'subagent.called', callId: started.callId, name: span.name }, place);
      });
    }
    return read(spanEndSchema, value, (span) => {
      const ended = this.#spans.end(span.id);
      if (!ended || ended.outside.scorer) return;
      const { callId, outside } = ended;
      const outcome = this.#answered.get(callId) ?? 'completed';
      const status = outcome === 'completed' ? 'completed' : 'failed';
      const place = { scope: outside, at: isoTime(span.timestamp) };
      this.#emit({ type: 'subagent.completed', callId, status }, place);
    });
  }

  #addModelCall(event: ModelEvent, place: SpanPosition): void {
    const { losses } = this.#options;
    for (const { raw, position } of newInput(event, this.#options.pool)) {
      const message = this.#message(raw);
      if (message) this.#addInput(message, position, place);
    }
    const done = { ...place, at: isoTime(event.completed) ?? place.at };
    const [first, ...others] = event.output.choices ?? [];
    losses.add('model.output.choices', 'only the first is the reply', others.length);
    const reply = first && this.#message(first.message);
    if (reply) this.#addReply(reply, done);
    if (event.call != null) losses.add('model.call', 'the request as the provider got it');
    const failure = event.error ?? event.output.error;
    if (failure) this.#emit({ type: 'error', message: failure }, done);
    const { usage, model, time } = event.output;
    if (!usage) return;
    if (event.cache === 'read') {
      losses.add('model.output.usage', "the reply came from Inspect's own cache, no tokens were used");
      return;
    }
    const taken = time ?? event.working_time;
    this.#emit(
      {
        type: 'usage',
        usage: toUsage(usage),
        model: model || event.model,
        ...present({
          costUsd: usage.total_cost,
          latencyMs: taken === undefined ? undefined : Math.round(taken * 1000),
        }),
      },
      done,
    );
  }

  #addInput(message: Message, position: number, place: SpanPosition): void {
    const identity = message.id ?? JSON.stringify(message.content);
    const key = `${place.scope.parentCallId ?? ''} ${position} ${identity}`;
    if (this.#seenMessages.has(key)) return;
    this.#seenMessages.add(key);
    const text = this.#textOf(message.content);
    if (message.role === 'user') this.#emit({ type: 'message', role: 'user', text }, place);
    else if (message.role === 'system') {
      this.#options.losses.add('message system', 'a message has the role user or assistant');
    } else if (typeof message.tool_call_id === 'string') {
      this.#addResult(message.tool_call_id, statusOf(message.error), message.error?.message ?? text, place);
    }
  }

  #addReply(message: Message, place: SpanPosition): void {
    const content: ContentPart[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    for (const part of content) this.#addPart(part, place);
    for (const call of message.tool_calls ?? []) {
      this.#addCall(call.id, call.function, call.arguments ?? {}, place);
    }
  }

  #addPart(part: ContentPart, place: SpanPosition): void {
    const { losses } = this.#options;
    if (part.type === 'text') {
      if (part.text) this.#emit({ type: 'message', role: 'assistant', text: part.text }, place);
    } else if (part.type === 'reasoning') {
      const text = (part.redacted ? undefined : part.reasoning) || part.summary;
      if (text) this.#emit({ type: 'thinking', text }, place);
      else losses.add('content reasoning', 'the provider does not reveal its text');
    } else if (part.type === 'tool_use' && part.id && part.name) {
      this.#addCall(part.id, part.name, parsedOr(part.arguments ?? {}), place);
      const failed = part.error ? ('failed' as const) : ('completed' as const);
      this.#addResult(part.id, failed, part.error || part.result, place);
    } else {
      losses.add(`content ${part.type}`, 'events only carry text');
    }
  }

  #addCall(callId: string, name: string, input: JsonValue, place: SpanPosition): void {
    this.#called.add(callId);
    this.#answered.delete(callId);
    this.#emit({ type: 'action.called', callId, name, input }, place);
  }

  #addToolResult(event: ToolEvent, place: SpanPosition): void {
    const { losses, resolve } = this.#options;
    if (event.agent_span_id != null) this.#spans.startedBy(event.agent_span_id, event.id);
    if (!this.#called.has(event.id)) {
      this.#addCall(event.id, event.function, resolve(event.arguments ?? {}), place);
    }
    if (event.pending) return;
    if (event.truncated != null) losses.add('tool.truncated', 'events do not say that a result was cut');
    const status = event.failed ? 'failed' : statusOf(event.error);
    const result = event.result === undefined ? undefined : this.#outputOf(resolve(event.result));
    const output = result === undefined || result === '' ? (event.error?.message ?? result) : result;
    this.#addResult(event.id, status, output, { ...place, at: isoTime(event.completed) ?? place.at });
  }

  /** A result appears twice, in the tool's event and in the input of the next model call. The first one counts. */
  #addResult(
    callId: string,
    status: 'completed' | 'failed' | 'rejected',
    output: JsonValue | undefined,
    place: SpanPosition,
  ): void {
    if (!this.#called.has(callId) || this.#answered.has(callId)) return;
    this.#answered.set(callId, status);
    this.#emit({ type: 'action.result', callId, ...present({ output }), status }, place);
  }

  /** The text of a result with several parts; other values stay as they are. */
  #outputOf(result: JsonValue): JsonValue {
    if (!Array.isArray(result)) return result;
    const parts = result.filter((part) => isJsonObject(part) && 'type' in part);
    if (parts.length < result.length || parts.length === 0) return result;
    return this.#textOf(parts as ContentPart[]);
  }

  #addApproval(event: z.infer<typeof approvalEventSchema>, place: SpanPosition): void {
    const { losses } = this.#options;
    const { id: callId, function: name } = event.call;
    if (!this.#approvals.has(callId)) {
      this.#approvals.add(callId);
      this.#emit({ type: 'approval.requested', callId, name }, place);
    }
    if (event.explanation) losses.add('approval.explanation', 'events have no place for it');
    if (event.decision === 'escalate') return;
    if (event.decision === 'modify') losses.add('approval.modified', 'events have no place for it');
    const decision = event.decision === 'approve' || event.decision === 'modify' ? 'approved' : 'denied';
    const by = event.approver === 'human' ? 'user' : 'policy';
    this.#emit({ type: 'approval.decided', callId, decision, by, rule: event.approver }, place);
  }

  #message(raw: JsonValue): Message | undefined {
    const parsed = messageSchema.safeParse(this.#options.resolve(raw));
    if (parsed.success) return parsed.data;
    this.#options.losses.add('message', UNKNOWN_SHAPE);
    return undefined;
  }

  #textOf(content: Message['content']): string {
    return contentText(content, (type) =>
      this.#options.losses.add(`content ${type}`, 'events only carry text'),
    );
  }
}

type SpanPosition = { scope: SpanScope; at: string | undefined };

const UNKNOWN_SHAPE = 'an unknown shape';

/** @returns why the value is lost, if it does not fit the schema. */
function read<Shape>(
  schema: z.ZodType<Shape>,
  value: JsonValue,
  use: (event: Shape) => void,
): string | undefined {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return UNKNOWN_SHAPE;
  use(parsed.data);
  return undefined;
}

/** The messages after the assistant's last, each with its position: the same text said again is another message. */
function newInput(event: ModelEvent, pool: readonly JsonValue[]): { raw: JsonValue; position: number }[] {
  const inline = event.input ?? [];
  const messages = inline.length > 0 ? inline : pool;
  const refs = inline.length > 0 ? [[0, inline.length] as const] : (event.input_refs ?? []);
  const ranges = refs.map(([start, end]) => ({
    start,
    end: Math.max(start, Math.min(end, messages.length)),
  }));
  let position = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  const found: { raw: JsonValue; position: number }[] = [];
  for (const { start, end } of ranges.toReversed()) {
    for (let index = end - 1; index >= start; index -= 1) {
      const raw = messages[index];
      position -= 1;
      // An input cannot be longer than the pool. Ranges that claim more would only cost time.
      if (raw === undefined || isAssistant(raw) || found.length === messages.length) return found.reverse();
      found.push({ raw, position });
    }
  }
  return found.reverse();
}

const isAssistant = (message: JsonValue): boolean => isJsonObject(message) && message.role === 'assistant';

function statusOf(error: ToolEvent['error']): 'completed' | 'failed' | 'rejected' {
  if (!error) return 'completed';
  return error.type === 'approval' ? 'rejected' : 'failed';
}

function isoTime(time: string | undefined): string | undefined {
  const milliseconds = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds).toISOString();
}

const parsedOr = (value: JsonValue): JsonValue => (typeof value === 'string' ? jsonOrText(value) : value);
