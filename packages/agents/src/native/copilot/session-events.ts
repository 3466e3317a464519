import {
  type EventEnvelope,
  type JsonObject,
  type JsonValue,
  parseJson,
  type StreamEvent,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { countIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged, messageEvents, thinkingEvents } from '../../kit/mapped-events.ts';
import { mcpFailures } from '../../kit/mcp-failures.ts';
import type { MapperPlace, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import { skillEvents } from '../../kit/skill-file.ts';

/** Events that announce or repeat another event, or that are about the program and not the agent, by topic. */
const PASSING_NAMES = {
  // `abort` follows it.
  agent: 'interrupted',
  assistant:
    'turn_start turn_end idle intent message_start message_delta reasoning_delta tool_call_delta streaming_delta ' +
    'server_tool_progress',
  // Those that are not about a call repeat the model calls of a manual compaction.
  model:
    'call_start call_finished call_final_result turn_started turn_ended model_call_started model_call_success ' +
    'message messages_snapshot response tool_execution',
  session:
    'background_tasks_changed compaction_start custom_agents_updated extensions_loaded idle mcp_server_tools_loaded ' +
    'mcp_servers_loaded model_change skills_loaded title_changed todos_changed tools_updated usage_checkpoint usage_info',
  skill: 'context_delivered context_delivered_ref',
  subagent: 'configured selected deselected',
  // The system prompt.
  system: 'message',
  tool: 'execution_partial_result execution_progress shell_output',
};

const PASSING = new Set(
  Object.entries(PASSING_NAMES).flatMap(([topic, names]) =>
    names.split(' ').map((name) => `${topic}.${name}`),
  ),
);

/** Kinds of `session.info` that repeat another event. */
const REPEATING_INFO = new Set(['model_retry', 'file_created', 'cancellation']);

const SUBAGENT = /^subagent\.(?:started|completed|failed)$/;

type Subagent = {
  callId: string;
  /** Set if a sub-agent called this one. */
  parentCallId: string | undefined;
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
  readonly record = new SessionRecord();
  readonly #workdir: string | undefined;
  readonly #calls = new Map<string, { parentCallId: string | undefined; subagent?: Subagent }>();
  /** By the sub-agent's own id, which is not the id of the call that started it. */
  readonly #subagents = new Map<string, Subagent>();
  readonly #counted = new Set<string>();
  #thinking: string | undefined;
  #retries = 0;
  readonly #asked = new Set<string>();
  #hasOpenCalls = false;
  /** Whether the program has said that the turn is over. Before that, only a failure is certain. */
  isOver = false;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { type } = item;
    if (typeof type !== 'string') return undefined;
    if (PASSING.has(type)) return [];
    const data = objectIn(item.data);
    if (!data) return undefined;
    if (SUBAGENT.test(type)) return [this.#subagent(type, data, item)];
    const envelope = this.envelope(item, data);
    return enveloped(this.#eventsOf(type, data, item, envelope.parentCallId), envelope);
  }

  beginTurn(): void {
    this.record.beginTurn();
    this.#retries = 0;
    this.#hasOpenCalls = false;
    this.isOver = false;
  }

  ending(): NativeSummary['ending'] {
    if (this.record.failure !== undefined) return 'failed';
    if (!this.isOver) return undefined;
    if (this.#asked.size > 0) return 'waiting';
    return this.#hasOpenCalls ? 'failed' : 'completed';
  }

  summary(metadata: JsonObject = {}): NativeSummary {
    this.record.ending = this.ending();
    return { ...this.record.summary(), metadata: { copilot: { ...metadata, retries: this.#retries } } };
  }

  /** Most events of sub-agents name the parent call; all have the sub-agent's id. */
  envelope(item: JsonObject, data: JsonObject): EventEnvelope {
    const parent = textIn(data.parentToolCallId) ?? objectIn(data.usage)?.parentToolCallId;
    const { callId } = this.#subagents.get(textIn(item.agentId) ?? '') ?? {};
    return this.record.envelope(item, textIn(parent) ?? callId);
  }

  #eventsOf(
    type: string,
    data: JsonObject,
    item: JsonObject,
    parentCallId: string | undefined,
  ): StreamEvent[] | undefined {
    const isOwn = parentCallId === undefined;
    switch (type) {
      case 'user.message':
        return [{ type: 'message', role: 'user', text: requiredText(data.content) }];
      case 'assistant.message':
        return this.#message(data, isOwn);
      case 'assistant.reasoning':
        return this.#think(requiredText(data.content));
      case 'assistant.usage':
        return this.#use(data);
      case 'session.usage_record': {
        const usage = objectIn(data.usage);
        return usage && this.#use(usage);
      }
      case 'assistant.turn_retry':
        this.#retries += 1;
        return [];
      case 'model.call_failure':
        return [{ type: 'error', message: callFailure(data) }];
      case 'tool.execution_start':
        this.#calls.set(requiredText(data.toolCallId), { parentCallId });
        return [calledEvent(data)];
      case 'tool.execution_complete':
        return this.#result(data);
      case 'skill.invoked':
      case 'skill.invoked_ref': {
        const skill = requiredText(data.name);
        // Otherwise the tool call already reports the skill.
        return data.trigger === 'agent-invoked' ? [] : skillEvents(requiredText(item.id), skill, 'completed');
      }
      case 'permission.requested':
      case 'permission.completed':
        return [permissionEvent(type, data)];
      case 'user_input.requested':
        return [this.#question(data)];
      case 'user_input.completed':
        this.#asked.delete(requiredText(data.requestId));
        return undefined;
      case 'abort':
        return this.#error(`aborted: ${requiredText(data.reason)}`, isOwn);
      case 'session.error':
        return this.#error(requiredText(data.message), isOwn);
      case 'session.info':
        return REPEATING_INFO.has(textIn(data.infoType) ?? '') ? [] : undefined;
      case 'session.mcp_server_status_changed':
        return data.error === undefined ? [] : mcpFailures([{ ...data, name: data.serverName ?? null }]);
      case 'session.compaction_complete':
        return this.#compaction(data);
      case 'session.truncation':
        return [{ type: 'compaction', droppedMessages: countIn(data.messagesRemovedDuringTruncation) }];
      default:
        return undefined;
    }
  }

  #error(message: string, isOwn: boolean): StreamEvent[] {
    if (isOwn) this.record.failure = message;
    return [{ type: 'error', message }];
  }

  #message(data: JsonObject, isOwn: boolean): StreamEvent[] {
    if (isOwn) {
      this.record.failure = undefined;
      this.#hasOpenCalls = objectsIn(data.toolRequests).length > 0;
    }
    const message = messageEvents('assistant', requiredText(data.content));
    return [...this.#think(textIn(data.reasoningText) ?? ''), ...message];
  }

  /** Thinking comes with the message and, in the stream, also as its own event. */
  #think(text: string): StreamEvent[] {
    if (text === '' || text === this.#thinking) return [];
    this.#thinking = text;
    return thinkingEvents(text);
  }

  #result(data: JsonObject): StreamEvent[] {
    const callId = requiredText(data.toolCallId);
    const { subagent, parentCallId } = this.#calls.get(callId) ?? {};
    const events = resultEvents(data, this.#workdir);
    this.#calls.delete(callId);
    if (subagent?.isAwaited) subagent.output = outputOf(data);
    return enveloped(events, present({ parentCallId })) ?? [];
  }

  /** Start and end of a sub-agent have its id, but belong to the agent that called it. */
  #subagent(type: string, data: JsonObject, item: JsonObject): StreamEvent {
    const callId = requiredText(data.toolCallId);
    const agentId = textIn(item.agentId) ?? callId;
    if (type === 'subagent.started') {
      const call = this.#calls.get(callId);
      const { parentCallId } = call ?? {};
      const subagent: Subagent = { callId, parentCallId, isAwaited: data.executionMode !== 'background' };
      this.#subagents.set(agentId, subagent);
      if (call) call.subagent = subagent;
      const name = requiredText(data.agentName);
      return { type: 'subagent.called', callId, name, ...this.record.envelope(item, parentCallId) };
    }
    const { parentCallId, output: answer } = this.#subagents.get(agentId) ?? {};
    const status = type === 'subagent.failed' || data.cancelled === true ? 'failed' : 'completed';
    const output = present({ output: data.error ?? answer });
    return {
      ...{ type: 'subagent.completed', callId, status, ...output },
      ...this.record.envelope(item, parentCallId),
    };
  }

  #question({ requestId, question, choices }: JsonObject): StreamEvent {
    const id = requiredText(requestId);
    this.#asked.add(id);
    const options = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
    return {
      type: 'input.requested',
      request: {
        ...{ id, prompt: requiredText(question), kind: 'question' },
        ...(options.length > 0 && { options: options.map((choice) => ({ id: choice })) }),
      },
    };
  }

  /** Only this event reports the model calls of a compaction. */
  #compaction(data: JsonObject): StreamEvent[] {
    const used = objectIn(data.compactionTokensUsed);
    const usage = used ? this.#use(used) : [];
    if (data.success !== true) {
      const reason = textIn(data.error) ?? textIn(data.failureReason) ?? 'unknown';
      return [...usage, { type: 'error', message: `Compaction failed: ${reason}` }];
    }
    const dropped = data.messagesRemoved !== undefined && { droppedMessages: countIn(data.messagesRemoved) };
    return [
      ...usage,
      { type: 'compaction', ...present({ summary: textIn(data.summaryContent) }), ...dropped },
    ];
  }

  /** With every provider, `inputTokens` includes the tokens read from and written to the cache. */
  #use(reported: JsonObject): StreamEvent[] {
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
    const latencyMs = typeof duration === 'number' && duration >= 0 ? duration : undefined;
    return this.record.used(usage, { model: textIn(reported.model), latencyMs });
  }
}

function permissionEvent(type: string, data: JsonObject): StreamEvent {
  const request = objectIn(data.permissionRequest) ?? {};
  const callId = textIn(data.toolCallId) ?? textIn(request.toolCallId) ?? requiredText(data.requestId);
  if (type === 'permission.requested') {
    const asked = { name: textIn(request.kind), reason: textIn(request.intention) };
    return { type: 'approval.requested', callId, ...present(asked) };
  }
  const isApproved = requiredText(objectIn(data.result)?.kind).startsWith('approved');
  const rule = present({ rule: textIn(data.decisionSource) });
  return {
    type: 'approval.decided',
    callId,
    decision: isApproved ? 'approved' : 'denied',
    by: 'agent',
    ...rule,
  };
}

/** The message of a failed call. The provider's error comes as JSON text. */
function callFailure({ statusCode, errorMessage, failureKind }: JsonObject): string {
  const kind = typeof statusCode === 'number' ? `HTTP ${statusCode}` : (textIn(failureKind) ?? 'error');
  const text = textIn(errorMessage) ?? 'no reason given';
  return `The model call failed (${kind}): ${textIn(objectIn(parseJson(text))?.message) ?? text}`;
}

/** Maps the `data` of `tool.execution_start`. */
const calledEvent = (data: JsonObject): StreamEvent => ({
  ...{ type: 'action.called', callId: requiredText(data.toolCallId) },
  ...nameAndInput(data),
});

function nameAndInput(data: JsonObject): { name: string; input: JsonValue } {
  const { mcpServerName: server, mcpToolName: tool, toolName, arguments: input = {} } = data;
  if (typeof server === 'string' && typeof tool === 'string')
    return { name: `mcp__${server}__${tool}`, input };
  const skill = toolName === 'skill' ? textIn(objectIn(input)?.skill) : undefined;
  if (skill !== undefined) return { name: 'load_skill', input: { skill } };
  return { name: requiredText(toolName), input };
}

/** Maps the `data` of `tool.execution_complete`. The tool succeeds even if its command fails, with an exit code. */
function resultEvents(data: JsonObject, workdir: string | undefined): StreamEvent[] {
  const callId = requiredText(data.toolCallId);
  if (typeof data.success !== 'boolean') throw new TypeError('A result was expected.');
  const status = data.success ? 'completed' : objectIn(data.error)?.code === 'denied' ? 'rejected' : 'failed';
  const edits = data.success ? objectsIn(data.fileEdits) : [];
  const changed = edits.flatMap(({ path, kind }) =>
    typeof path === 'string' ? [fileChanged(path, workdir, changeNamed(kind))] : [],
  );
  return [{ type: 'action.result', callId, status, ...present({ output: outputOf(data) }) }, ...changed];
}

/** The result that the model got. */
function outputOf(data: JsonObject): JsonValue | undefined {
  const output = objectIn(data.result)?.content ?? objectIn(data.error)?.message;
  const exitCode = objectIn(data.shellExecution)?.exitCode;
  return typeof exitCode === 'number' ? { output: output ?? '', exitCode } : output;
}
