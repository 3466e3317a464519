import {
  addUsage,
  type EventEnvelope,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeSummary } from '../../kit/native-mapper.ts';
import { skillEvents } from '../../kit/skill-file.ts';
import { textTail } from '../../kit/text-tail.ts';
import { calledEvent, outputOf, resultEvents } from './tool-call.ts';

const FAILURE_LIMIT_BYTES = 4 * 1024;

/** Events that announce or repeat another event, or that are about the program and not the agent. */
const PASSING: ReadonlySet<string> = new Set([
  'assistant.turn_start',
  'assistant.turn_end',
  'assistant.idle',
  'assistant.intent',
  'assistant.message_start',
  'assistant.message_delta',
  'assistant.reasoning_delta',
  'assistant.tool_call_delta',
  'assistant.streaming_delta',
  'assistant.server_tool_progress',
  'model.call_start',
  'model.call_finished',
  'model.call_final_result',
  'tool.execution_partial_result',
  'tool.execution_progress',
  'tool.shell_output',
  'subagent.configured',
  'subagent.selected',
  'subagent.deselected',
  'skill.context_delivered',
  'skill.context_delivered_ref',
  'session.background_tasks_changed',
  'session.compaction_start',
  'session.custom_agents_updated',
  'session.extensions_loaded',
  'session.idle',
  'session.mcp_server_tools_loaded',
  'session.mcp_servers_loaded',
  'session.model_change',
  'session.skills_loaded',
  'session.title_changed',
  'session.todos_changed',
  'session.tools_updated',
  'session.usage_checkpoint',
  'session.usage_info',
  // `abort` follows it.
  'agent.interrupted',
  // The system prompt.
  'system.message',
  // These repeat the model calls of a manual compaction.
  'model.turn_started',
  'model.turn_ended',
  'model.model_call_started',
  'model.model_call_success',
  'model.message',
  'model.messages_snapshot',
  'model.response',
  'model.tool_execution',
]);

/** Kinds of `session.info` that repeat another event. */
const REPEATING_INFO = new Set(['model_retry', 'file_created', 'cancellation']);

type Call = { parentCallId?: string; subagent?: Subagent };

type Subagent = {
  callId: string;
  /** The parent call, if a sub-agent called this one. */
  caller: { parentCallId?: string };
  /** Whether the result of the call is the sub-agent's answer. */
  isAwaited: boolean;
  output?: JsonValue | undefined;
};

/**
 * Maps the session events of GitHub Copilot CLI 1.0, after the JSON Schema that it unpacks
 * (`session-events.schema.json`). Both its stream and its session file consist of them. Only the file has tokens and
 * approvals; only the stream has failed requests and their retries.
 */
export class CopilotSession {
  readonly #workdir: string | undefined;
  /** Calls without a result, by call id. */
  readonly #calls = new Map<string, Call>();
  /** By the sub-agent's own id, which is not the id of the call that started it. */
  readonly #subagents = new Map<string, Subagent>();
  readonly #counted = new Set<string>();
  #thinking: string | undefined;
  #turn = -1;
  #usage: Usage | undefined;
  #failure: string | undefined;
  #retries = 0;
  readonly #asked = new Set<string>();
  /** Whether the agent's last message calls tools. */
  #hasOpenCalls = false;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { type } = item;
    if (typeof type !== 'string') return undefined;
    if (PASSING.has(type)) return [];
    const data = objectIn(item.data);
    return data && this.#eventsOf(type, data, item);
  }

  /** Resets the counts, because a new prompt begins. */
  beginTurn(): void {
    this.#turn += 1;
    this.#usage = undefined;
    this.#failure = undefined;
    this.#retries = 0;
    this.#hasOpenCalls = false;
  }

  /** How the turn ended. Before the program says that the turn is over, only a failure is certain. */
  ending(isOver: boolean): NativeSummary['ending'] {
    if (this.#failure !== undefined) return 'failed';
    if (!isOver) return undefined;
    if (this.#asked.size > 0) return 'waiting';
    return this.#hasOpenCalls ? 'failed' : 'completed';
  }

  summary(): NativeSummary & { metadata: { copilot: JsonObject } } {
    return {
      ...present({ failure: this.#failure, usage: this.#usage }),
      metadata: { copilot: { retries: this.#retries } },
    };
  }

  fail(reason: string): void {
    this.#failure = textTail(reason, FAILURE_LIMIT_BYTES);
  }

  /** Time, turn and parent call of an event. Most events of sub-agents name the call; all have the sub-agent's id. */
  envelope(item: JsonObject, data: JsonObject = {}): EventEnvelope {
    const parent = textIn(data.parentToolCallId) ?? this.#subagents.get(textIn(item.agentId) ?? '')?.callId;
    return {
      ...momentIn(item.timestamp),
      ...(this.#turn >= 0 && { turn: this.#turn }),
      ...present({ parentCallId: parent }),
    };
  }

  #eventsOf(type: string, data: JsonObject, item: JsonObject): StreamEvent[] | undefined {
    const envelope = this.envelope(item, data);
    switch (type) {
      case 'user.message':
        return [{ type: 'message', role: 'user', text: requiredText(data.content), ...envelope }];
      case 'assistant.message':
        return this.#message(data, envelope);
      case 'assistant.reasoning':
        return this.#think(requiredText(data.content), envelope);
      case 'assistant.usage':
        return this.#use(data, envelope);
      case 'session.usage_record': {
        const usage = objectIn(data.usage);
        return usage && this.#use(usage, this.envelope(item, usage));
      }
      case 'assistant.turn_retry':
        this.#retries += 1;
        return [];
      case 'model.call_failure':
        return [{ type: 'error', message: callFailure(data), ...envelope }];
      case 'tool.execution_start':
        return this.#call(data, envelope);
      case 'tool.execution_complete':
        return this.#result(data, envelope);
      case 'subagent.started':
      case 'subagent.completed':
      case 'subagent.failed':
        return this.#subagent(type, data, item);
      case 'skill.invoked':
      case 'skill.invoked_ref': {
        const skill = requiredText(data.name);
        // Otherwise the tool call already reports the skill.
        return data.trigger === 'agent-invoked'
          ? []
          : skillEvents(requiredText(item.id), skill, 'completed', envelope);
      }
      case 'permission.requested':
      case 'permission.completed':
        return this.#permission(type, data, envelope);
      case 'user_input.requested':
        return this.#question(data, envelope);
      case 'user_input.completed':
        this.#asked.delete(requiredText(data.requestId));
        return undefined;
      case 'abort': {
        const message = `aborted: ${requiredText(data.reason)}`;
        if (envelope.parentCallId === undefined) this.fail(message);
        return [{ type: 'error', message, ...envelope }];
      }
      default:
        return type.startsWith('session.') ? this.#sessionEvents(type, data, item) : undefined;
    }
  }

  #sessionEvents(type: string, data: JsonObject, item: JsonObject): StreamEvent[] | undefined {
    const envelope = this.envelope(item, data);
    switch (type) {
      case 'session.error': {
        const message = requiredText(data.message);
        if (envelope.parentCallId === undefined) this.fail(message);
        return [{ type: 'error', message, ...envelope }];
      }
      case 'session.info':
        return REPEATING_INFO.has(textIn(data.infoType) ?? '') ? [] : undefined;
      case 'session.mcp_server_status_changed':
        return data.error === undefined ? [] : undefined;
      case 'session.compaction_complete':
        return this.#compaction(data, envelope);
      case 'session.truncation': {
        const dropped = tokensIn(data.messagesRemovedDuringTruncation);
        return [{ type: 'compaction', droppedMessages: dropped, ...envelope }];
      }
      default:
        return undefined;
    }
  }

  #message(data: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const text = requiredText(data.content);
    if (envelope.parentCallId === undefined) {
      this.#failure = undefined;
      this.#hasOpenCalls = objectsIn(data.toolRequests).length > 0;
    }
    const thinking = this.#think(textIn(data.reasoningText) ?? '', envelope);
    return text === '' ? thinking : [...thinking, { type: 'message', role: 'assistant', text, ...envelope }];
  }

  /** Thinking comes with the message and, in the stream, also as its own event. */
  #think(text: string, envelope: EventEnvelope): StreamEvent[] {
    if (text === '' || text === this.#thinking) return [];
    this.#thinking = text;
    return [{ type: 'thinking', text, ...envelope }];
  }

  #call(data: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const { parentCallId } = envelope;
    this.#calls.set(requiredText(data.toolCallId), { ...present({ parentCallId }) });
    return [calledEvent(data, envelope)];
  }

  #result(data: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const callId = requiredText(data.toolCallId);
    const { subagent, ...caller } = this.#calls.get(callId) ?? {};
    const events = resultEvents(data, this.#workdir, { ...caller, ...envelope });
    this.#calls.delete(callId);
    if (subagent?.isAwaited) subagent.output = outputOf(data);
    return events;
  }

  /** Start and end of a sub-agent have its id, but belong to the agent that called it. */
  #subagent(type: string, data: JsonObject, item: JsonObject): StreamEvent[] {
    const callId = requiredText(data.toolCallId);
    const agentId = textIn(item.agentId) ?? callId;
    const { parentCallId: _itself, ...moment } = this.envelope(item);
    if (type === 'subagent.started') {
      const name = requiredText(data.agentName);
      const call = this.#calls.get(callId);
      const { parentCallId } = call ?? {};
      const caller = { ...present({ parentCallId }) };
      const subagent: Subagent = { callId, caller, isAwaited: data.executionMode !== 'background' };
      this.#subagents.set(agentId, subagent);
      if (call) call.subagent = subagent;
      return [{ type: 'subagent.called', callId, name, ...moment, ...caller }];
    }
    const { caller, output: answer } = this.#subagents.get(agentId) ?? {};
    const output = data.error ?? answer;
    const status = type === 'subagent.failed' || data.cancelled === true ? 'failed' : 'completed';
    const result = output !== undefined && { output };
    return [{ type: 'subagent.completed', callId, status, ...result, ...moment, ...caller }];
  }

  #permission(type: string, data: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const request = objectIn(data.permissionRequest) ?? {};
    const callId = textIn(data.toolCallId) ?? textIn(request.toolCallId) ?? requiredText(data.requestId);
    if (type === 'permission.requested') {
      const { kind, intention } = request;
      return [
        {
          type: 'approval.requested',
          callId,
          ...(typeof kind === 'string' && { name: kind }),
          ...(typeof intention === 'string' && { reason: intention }),
          ...envelope,
        },
      ];
    }
    const isApproved = requiredText(objectIn(data.result)?.kind).startsWith('approved');
    const by = textIn(data.decisionSource);
    return [
      {
        type: 'approval.decided',
        callId,
        decision: isApproved ? 'approved' : 'denied',
        ...present({ by }),
        ...envelope,
      },
    ];
  }

  #question({ requestId, question, choices }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const id = requiredText(requestId);
    this.#asked.add(id);
    const options = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
    return [
      {
        type: 'input.requested',
        request: {
          id,
          prompt: requiredText(question),
          kind: 'question',
          ...(options.length > 0 && { options: options.map((choice) => ({ id: choice })) }),
        },
        ...envelope,
      },
    ];
  }

  /** Only this event reports the model calls of a compaction. */
  #compaction(data: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const used = objectIn(data.compactionTokensUsed);
    const usage = used ? this.#use(used, envelope) : [];
    if (data.success !== true) {
      const reason = textIn(data.error) ?? textIn(data.failureReason) ?? 'unknown';
      return [...usage, { type: 'error', message: `Compaction failed: ${reason}`, ...envelope }];
    }
    const summary = textIn(data.summaryContent);
    return [
      ...usage,
      {
        type: 'compaction',
        ...present({ summary }),
        ...(data.messagesRemoved !== undefined && { droppedMessages: tokensIn(data.messagesRemoved) }),
        ...envelope,
      },
    ];
  }

  /** With every provider, `inputTokens` includes the tokens read from and written to the cache. */
  #use(reported: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const { apiCallId, duration } = reported;
    if (typeof apiCallId === 'string') {
      if (this.#counted.has(apiCallId)) return [];
      this.#counted.add(apiCallId);
    }
    const cacheReadTokens = tokensIn(reported.cacheReadTokens);
    const cacheWriteTokens = tokensIn(reported.cacheWriteTokens);
    const usage: Usage = {
      inputTokens: Math.max(0, tokensIn(reported.inputTokens) - cacheReadTokens - cacheWriteTokens),
      outputTokens: tokensIn(reported.outputTokens),
      cacheReadTokens,
      cacheWriteTokens,
      ...(reported.reasoningTokens !== undefined && { reasoningTokens: tokensIn(reported.reasoningTokens) }),
    };
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    const model = textIn(reported.model);
    return [
      {
        type: 'usage',
        usage,
        ...present({ model }),
        ...(typeof duration === 'number' && duration >= 0 && { latencyMs: duration }),
        ...envelope,
      },
    ];
  }
}

/** The message of a failed call. The provider's error comes as JSON text. */
function callFailure({ statusCode, errorMessage, failureKind }: JsonObject): string {
  const kind = typeof statusCode === 'number' ? `HTTP ${statusCode}` : (textIn(failureKind) ?? 'error');
  return `The model call failed (${kind}): ${providerMessage(textIn(errorMessage) ?? 'no reason given')}`;
}

function providerMessage(text: string): string {
  try {
    return textIn(objectIn(JSON.parse(text) as JsonValue)?.message) ?? text;
  } catch {
    return text;
  }
}
