import type { JsonValue } from '../json.ts';
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
import { type EventTimes, timesOf } from './event-times.ts';
import {
  attributes,
  type OtlpSpan,
  type OtlpTraces,
  SPAN_KIND_CLIENT,
  SPAN_KIND_INTERNAL,
  STATUS_ERROR,
  unixNano,
} from './otlp.ts';
import { createSpanIds, type SpanIds } from './span-ids.ts';

export type GenAiSpanOptions = {
  agentName: string;
  /** Default: the runtime version of `session.started`. */
  agentVersion?: string;
  /** `gen_ai.provider.name`, for example `anthropic`. The conventions require it, and no event has it. */
  providerName?: string;
  /** Default: the session id of `session.started`. */
  conversationId?: string;
  /** The model of calls that name none. Default: the model of `session.started`. */
  modelName?: string;
  /** `service.name` of the resource. Default: `agentName`. */
  serviceName?: string;
  /** Whether messages, reasoning, arguments and results go into the spans. Default: false, as the conventions ask. */
  captureContent?: boolean;
  /** Makes the ids the same each time. Must be unique to a stream, for example its session id. Default: random ids. */
  seed?: string;
  /** The start of a stream without any time, ISO 8601. Default: 1970. */
  startedAt?: string;
};

/**
 * The spans of a stream by OpenTelemetry's GenAI conventions (semantic-conventions-genai, in development):
 * `invoke_agent` for the agent and, nested, for each sub-agent; in it `chat` for each step (see `groupSteps`) and
 * `execute_tool` for each call of a tool.
 *
 * Times: an event without a time gets that of the event before it (see `timesOf`). A `chat` ends with the reply, and
 * starts `latencyMs` earlier or, when that is unknown, with the event before it. A call without a result lasts as long as
 * its agent.
 *
 * The message of an `error` is always in the status of a span; other content only if you ask for it. Only `chat` has
 * tokens, so that a sum over spans counts each token once. `gen_ai.input.messages` has what is new since the agent's last
 * `chat`, because repeated whole histories would grow with the square of their length.
 */
export function toGenAiSpans(
  events: readonly StreamEvent[],
  options: GenAiSpanOptions,
): { spans: OtlpTraces; lost: Loss[] } {
  const losses = tallyLosses();
  const times = timesOf(events, options.startedAt);
  const agents = eventsByAgent(events);
  const session = agents.get(undefined)?.find((event) => event.type === 'session.started');
  const context: Context = {
    losses,
    times,
    agents,
    session,
    options,
    ids: createSpanIds(options.seed),
    spans: [],
    conversationId: options.conversationId ?? session?.sessionId,
    modelName: options.modelName ?? session?.model,
  };
  traceAgent(
    {
      agentId: undefined,
      name: options.agentName,
      version: options.agentVersion ?? session?.runtimeVersion,
      boundary: [],
    },
    context,
  );
  loseOfStream(events, context);
  return {
    spans: {
      resourceSpans: [
        {
          resource: { attributes: attributes({ 'service.name': options.serviceName ?? options.agentName }) },
          scopeSpans: [{ scope: { name: '@whetstone/events' }, spans: context.spans }],
        },
      ],
    },
    lost: losses.list(),
  };
}

/** Traced agents are deleted from `agents`, so that those remain that nothing refers to. */
type Context = {
  losses: LossTally;
  times: EventTimes;
  agents: Map<string | undefined, StreamEvent[]>;
  session: StreamEventOf<'session.started'> | undefined;
  options: GenAiSpanOptions;
  ids: SpanIds;
  spans: OtlpSpan[];
  conversationId: string | undefined;
  modelName: string | undefined;
};

type TracedAgent = {
  agentId: string | undefined;
  name: string;
  version?: string | undefined;
  parentSpanId?: string;
  remoteUrl?: string | undefined;
  boundary: StreamEvent[];
  failed?: boolean;
};

function traceAgent(agent: TracedAgent, context: Context): void {
  const events = context.agents.get(agent.agentId) ?? [];
  context.agents.delete(agent.agentId);
  const interval = spanning([...agent.boundary, ...events], context.times);
  const errors = events.filter((event) => event.type === 'error');
  const failure = agent.failed ? 'failed' : endsWithError(events) ? '_OTHER' : undefined;
  const message = errors.at(-1)?.message;
  const span: OtlpSpan = {
    ...newSpan(`invoke_agent ${agent.name}`, interval, agent.parentSpanId, context),
    kind: agent.remoteUrl === undefined ? SPAN_KIND_INTERNAL : SPAN_KIND_CLIENT,
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': context.options.providerName,
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.version': agent.version,
      'gen_ai.conversation.id': context.conversationId,
      'gen_ai.request.model': agent.agentId === undefined ? context.modelName : undefined,
      'server.address': hostOf(agent.remoteUrl),
      'error.type': failure,
    }),
    ...(errors.length === 0 ? {} : { events: errors.map((error) => exception(error, context)) }),
    ...(failure === undefined ? {} : { status: { code: STATUS_ERROR, ...present({ message }) } }),
  };
  context.spans.push(span);

  const previous = new Map<StreamEvent | undefined, StreamEvent | undefined>();
  for (const [index, event] of events.entries()) previous.set(event, events[index - 1]);
  let input: Message[] = [];
  for (const step of groupSteps(events)) {
    if (step.kind === 'user') input.push(userMessage(step.message));
    else if (step.kind === 'agent') {
      traceChat(step, input, previous, { interval, parentSpanId: span.spanId }, context);
      input = step.calls.flatMap((call) => call.results.map(toolMessage));
      for (const call of step.calls) traceCall(call, { interval, parentSpanId: span.spanId }, context);
    }
    loseOfStep(step, context);
  }
  const unanswered = input.filter((part) => part.role === 'user').length;
  if (context.options.captureContent) {
    context.losses.add('message', 'no model call follows that has it as input', unanswered);
  }
}

type Interval = { start: number; end: number };
type Parent = { interval: Interval; parentSpanId: string };

function traceChat(
  step: AgentStep,
  input: Message[],
  previous: Map<StreamEvent | undefined, StreamEvent | undefined>,
  { interval, parentSpanId }: Parent,
  context: Context,
): void {
  const { losses, times, options } = context;
  const { thinking, message, calls, usage, usageBeforeCalls } = step;
  const callEvents = calls.flatMap(({ action, subagent }) => [action, subagent]);
  const reply: StreamEvent[] = [thinking, message, ...(usageBeforeCalls ? [usage] : callEvents)].filter(
    (event) => event !== undefined,
  );
  const { start: first, end } = spanning(reply.length > 0 || !usage ? reply : [usage], times);
  const before = previous.get(reply[0] ?? usage);
  const began =
    usage?.latencyMs === undefined
      ? Math.min(first, before ? times.of(before) : interval.start)
      : end - usage.latencyMs;
  const model = usage?.model ?? context.modelName;
  const tokens = usage?.usage;
  const captured = options.captureContent
    ? {
        'gen_ai.input.messages': input.length === 0 ? undefined : JSON.stringify(input),
        'gen_ai.output.messages': JSON.stringify([outputMessage(step)]),
      }
    : {};
  context.spans.push({
    ...newSpan(model === undefined ? 'chat' : `chat ${model}`, { start: began, end }, parentSpanId, context),
    kind: SPAN_KIND_CLIENT,
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': options.providerName,
      'gen_ai.request.model': model,
      'gen_ai.conversation.id': context.conversationId,
      'gen_ai.usage.input_tokens': tokens && totalTokens(tokens) - tokens.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': tokens?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': tokens?.cacheWriteTokens,
      'gen_ai.usage.output_tokens': tokens?.outputTokens,
      'gen_ai.usage.reasoning.output_tokens': tokens?.reasoningTokens,
      ...captured,
    }),
  });
  if (usage?.calls !== undefined) losses.add('usage calls', 'the span of a chat is one model call');
  if (usage?.costUsd !== undefined) losses.add('usage costUsd', 'the conventions have no place for costs');
  if (options.providerName === undefined) {
    losses.add('gen_ai.provider.name', 'a chat requires it, and no providerName was given');
  }
}

/** A tool call, the start of a sub-agent, or a call that started one: then the agent is inside the call. */
function traceCall(call: StepCall, { interval, parentSpanId }: Parent, context: Context): void {
  const { action, subagent, results } = call;
  const { captureContent } = context.options;
  let callSpanId = parentSpanId;
  if (action) {
    const result = results.find((event) => event.type === 'action.result');
    const failure = result && result.status !== 'completed' ? result.status : undefined;
    const { start, end } = spanning([action, ...results], context.times);
    const lasted = { start, end: result ? end : interval.end };
    const span: OtlpSpan = {
      ...newSpan(`execute_tool ${action.name}`, lasted, parentSpanId, context),
      kind: SPAN_KIND_INTERNAL,
      attributes: attributes({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': action.name,
        'gen_ai.tool.call.id': action.callId,
        'gen_ai.tool.type': 'function',
        'gen_ai.conversation.id': context.conversationId,
        'error.type': failure,
        'gen_ai.tool.call.arguments': captureContent ? JSON.stringify(action.input) : undefined,
        'gen_ai.tool.call.result':
          captureContent && result?.output !== undefined ? JSON.stringify(result.output) : undefined,
      }),
      ...(failure === undefined ? {} : { status: { code: STATUS_ERROR } }),
    };
    callSpanId = span.spanId;
    context.spans.push(span);
    const more = results.filter((event) => event.type === 'action.result').length - 1;
    context.losses.add('action.result', 'the call already has a result', Math.max(0, more));
  }
  if (!subagent) return;
  const completed = results.find((event) => event.type === 'subagent.completed');
  traceAgent(
    {
      agentId: subagent.callId,
      name: subagent.name,
      parentSpanId: callSpanId,
      remoteUrl: subagent.remoteUrl,
      boundary: completed ? [subagent, completed] : [subagent],
      failed: completed?.status === 'failed',
    },
    context,
  );
}

function newSpan(
  name: string,
  { start, end }: Interval,
  parentSpanId: string | undefined,
  { ids }: Context,
): Omit<OtlpSpan, 'kind' | 'attributes'> {
  return {
    traceId: ids.traceId,
    spanId: ids.nextSpanId(),
    ...present({ parentSpanId }),
    name,
    startTimeUnixNano: unixNano(start),
    endTimeUnixNano: unixNano(Math.max(start, end)),
  };
}

function spanning(events: readonly StreamEvent[], times: EventTimes): Interval {
  if (events.length === 0) return { start: 0, end: 0 };
  const found = events.map(times.of);
  return { start: found.reduce((a, b) => Math.min(a, b)), end: found.reduce((a, b) => Math.max(a, b)) };
}

/** An error is not a failure if the agent continued after it. */
function endsWithError(events: readonly StreamEvent[]): boolean {
  const activity = ['message', 'thinking', 'action.called', 'subagent.called', 'usage'];
  const last = events.findLast((event) => event.type === 'error' || activity.includes(event.type));
  return last?.type === 'error';
}

const exception = (error: StreamEventOf<'error'>, { times }: Context) => ({
  timeUnixNano: unixNano(times.of(error)),
  name: 'exception',
  attributes: attributes({ 'exception.type': '_OTHER', 'exception.message': error.message }),
});

type Message = { role: string; parts: Record<string, JsonValue>[]; finish_reason?: string };

function userMessage({ text }: StreamEventOf<'message'>): Message {
  return { role: 'user', parts: [{ type: 'text', content: text }] };
}

function toolMessage({ callId, output }: StepCall['results'][number]): Message {
  return { role: 'tool', parts: [{ type: 'tool_call_response', id: callId, response: output ?? null }] };
}

function outputMessage({ thinking, message, calls }: AgentStep): Message {
  const parts: Message['parts'] = [];
  if (thinking) parts.push({ type: 'reasoning', content: thinking.text });
  if (message) parts.push({ type: 'text', content: message.text });
  for (const { action } of calls) {
    if (!action) continue;
    parts.push({ type: 'tool_call', id: action.callId, name: action.name, arguments: action.input });
  }
  return { role: 'assistant', parts, finish_reason: calls.length > 0 ? 'tool_call' : 'stop' };
}

const REASONS: Partial<Record<StreamEvent['type'], string>> = {
  'action.result': 'no call in the stream has its callId',
  'subagent.completed': 'no call in the stream has its callId',
  'session.started': 'a trace has one session',
  'file.changed': 'the conventions have no place for changed files',
  'approval.requested': 'the conventions have no place for approvals',
  'approval.decided': 'the conventions have no place for approvals',
  'plan.updated': 'the conventions have no place for plans',
  'skill.loaded': 'the conventions have no place for loaded skills',
  'input.requested': 'the conventions have no place for questions to a human',
  compaction: 'the conventions have no place for compaction',
  raw: 'it has no mapping',
};

function loseOfStep(step: Step, { losses, options, session }: Context): void {
  if (step.kind === 'other') {
    if (step.event === session) return;
    const reason = REASONS[step.event.type];
    if (reason !== undefined) losses.add(step.event.type, reason);
    return;
  }
  if (options.captureContent) return;
  const unasked = 'content only goes into spans with captureContent';
  if (step.kind === 'user') {
    losses.add('message', unasked);
    return;
  }
  losses.add('thinking', unasked, step.thinking ? 1 : 0);
  losses.add('message', unasked, step.message ? 1 : 0);
  for (const { action, results } of step.calls) {
    losses.add('action.called input', unasked, action ? 1 : 0);
    const outputs = results.filter((result) => result.output !== undefined);
    losses.add('action.result output', unasked, outputs.length);
  }
}

function loseOfStream(
  events: readonly StreamEvent[],
  { agents, losses, times, session, options }: Context,
): void {
  loseUnstarted(agents, losses);
  losses.add('at', 'an event without a time gets that of the event before it', times.assumed);
  const having = (key: 'turn' | 'source') => events.filter((event) => event[key] !== undefined).length;
  losses.add('turn', 'the conventions have no place for it', having('turn'));
  losses.add('source', 'the conventions have no place for it', having('source'));
  if (session?.workingDir !== undefined) {
    losses.add('session.started workingDir', 'the conventions have no place for a directory');
  }
  if (session?.runtime !== undefined && session.runtime !== options.agentName) {
    losses.add('session.started runtime', 'the caller gave another name');
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}
