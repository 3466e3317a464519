import {
  addUsage,
  type EventEnvelope,
  emptyUsage,
  type JsonObject,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import {
  assistantEvents,
  type Calls,
  MESSAGE_PARTS,
  plainOutcome,
  plainText,
  userEvents,
} from '../claude-code/content.ts';
import { ownFields } from '../claude-code/own-fields.ts';
import { messageIn, streamEnvelope } from '../claude-code/session.ts';
import { sessionStarted } from '../claude-code/session-started.ts';
import { ToolCalls } from '../claude-code/tool-calls.ts';
import { usageBeyond } from '../claude-code/usage-buckets.ts';
import { qwenTools, streamUsage, unwrapCall, withText } from './tools.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

const SESSION_USAGE_FIELDS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'total_tokens'];

export type QwenMapper = NativeMapper & {
  /** Usage of the whole session up to the last `result`: the next turn's `before`. */
  readonly sessionUsage: Usage | undefined;
};

/**
 * Maps the output of `qwen --output-format stream-json`, 0.24, which has Claude Code's format. A reply has one message
 * per kind of content, and the last one has the usage of all. A `result` has the usage of the whole session; only there
 * are sub-agents and side requests counted. `before` is the usage of the session before this turn, all 0 in a new
 * session; without it, the turn's usage covers only the agent's own calls. Parts of a message that was never completed
 * stay in the native bytes only.
 */
export function createQwenCodeMapper(place: MapperPlace = {}, before?: Usage): QwenMapper {
  return new QwenStream(place, before);
}

class QwenStream implements QwenMapper {
  readonly #before: Usage | undefined;
  readonly #calls: Calls;
  sessionUsage: Usage | undefined;
  #workdir: string | undefined;
  #usage: Usage | undefined;
  #lastError: string | undefined;
  #summary: Omit<NativeSummary, 'metadata'> = {};
  #metadata: JsonObject = {};

  constructor({ workdir }: MapperPlace, before: Usage | undefined) {
    this.#before = before;
    this.#workdir = workdir;
    this.#calls = { tools: new ToolCalls(qwenTools, () => this.#workdir), unwrap: unwrapCall };
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'assistant':
        return this.#assistantEvents(messageIn(item), streamEnvelope(item));
      case 'user':
        return this.#userEvents(messageIn(item), streamEnvelope(item));
      case 'stream_event':
        return isPart(objectIn(item.event) ?? {}) ? [] : undefined;
      case 'system':
        return this.#systemEvents(item);
      case 'result':
        return this.#resultEvents(item);
      default:
        return undefined;
    }
  }

  summary(): NativeSummary {
    const metadata = { 'qwen-code': this.#metadata };
    return { ...this.#summary, ...present({ usage: this.#usage }), metadata };
  }

  #assistantEvents(message: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const text = plainText(message.content);
    // A provider error comes as a message. If the model wrote the same text, the `result` still decides the ending.
    if (text?.startsWith('[API Error: ')) return this.#error(text, envelope);
    return [
      ...assistantEvents(message.content, this.#calls, envelope),
      ...this.#usageEvents(message, envelope),
    ];
  }

  #usageEvents({ model, usage }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const call = streamUsage(objectIn(usage) ?? {});
    if (totalTokens(call) === 0) return [];
    return this.#report(call, { ...(typeof model === 'string' && { model }), ...envelope });
  }

  #report(usage: Usage, about: EventEnvelope & { model?: string }): StreamEvent[] {
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    return [{ type: 'usage', usage, ...about }];
  }

  #userEvents({ content }: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    // The stream repeats only the prompts of sub-agents.
    const isPrompt = envelope.parentCallId !== undefined;
    const outcomeOf = (block: JsonObject) => withText(plainOutcome(block));
    return userEvents({ content, isPrompt, outcomeOf }, this.#calls.tools, envelope);
  }

  #systemEvents(item: JsonObject): StreamEvent[] | undefined {
    const data = objectIn(item.data) ?? {};
    const envelope = streamEnvelope(item);
    switch (item.subtype) {
      case 'init':
        return this.#start(item);
      case 'retry':
        return this.#error(
          `The model call is made again (${textIn(data.reason) ?? 'no reason given'}).`,
          envelope,
        );
      case 'task_started':
        return [];
      case 'task_notification':
        return this.#calls.tools.ended(
          textIn(data.tool_use_id) ?? '',
          textIn(data.status) ?? '',
          undefined,
          envelope,
        );
      default:
        return undefined;
    }
  }

  #start(item: JsonObject): StreamEvent[] {
    const sessionId = requiredText(item.session_id);
    this.#workdir ??= textIn(item.cwd);
    this.#summary.sessionId = sessionId;
    this.#metadata = ownFields(item, ['permission_mode']);
    const { qwen_code_version: runtimeVersion, model, cwd: workingDir = this.#workdir } = item;
    return [sessionStarted('qwen-code', sessionId, { runtimeVersion, model, workingDir })];
  }

  #resultEvents(item: JsonObject): StreamEvent[] {
    const isFailed = item.subtype !== 'success' || item.is_error === true;
    const { failure: _, ...summary } = this.#summary;
    const sessionId = textIn(item.session_id);
    const session = objectIn(item.usage);
    this.#summary = {
      ...summary,
      ...present({ sessionId }),
      ending: isFailed ? 'failed' : 'completed',
      ...present({ data: item.structured_result }),
    };
    Object.assign(
      this.#metadata,
      ownFields(item, ['subtype', 'num_turns', 'duration_ms', 'duration_api_ms']),
    );
    if (session) this.#metadata.session_usage = ownFields(session, SESSION_USAGE_FIELDS);
    return [
      ...(session ? this.#sessionUsageEvents(streamUsage(session)) : []),
      ...this.#denials(objectsIn(item.permission_denials)),
      ...(isFailed ? this.#failure(item) : []),
    ];
  }

  #sessionUsageEvents(session: Usage): StreamEvent[] {
    this.sessionUsage = session;
    this.#usage ??= emptyUsage();
    if (!this.#before) return [];
    const rest = usageBeyond(session, addUsage(this.#before, this.#usage));
    return rest ? this.#report(rest, {}) : [];
  }

  #denials(denials: JsonObject[]): StreamEvent[] {
    return denials.flatMap(({ tool_use_id: callId, tool_name: name }) =>
      typeof callId === 'string' ? this.#calls.tools.denied(callId, { name: textIn(name) }, {}) : [],
    );
  }

  #failure(item: JsonObject): StreamEvent[] {
    const message =
      textIn(objectIn(item.error)?.message) ?? textIn(item.result) ?? textIn(item.subtype) ?? '';
    this.#summary.failure = textTail(message, TEXT_LIMIT_BYTES);
    return message === this.#lastError ? [] : this.#error(message, {});
  }

  #error(message: string, envelope: EventEnvelope): StreamEvent[] {
    this.#lastError = message;
    return [{ type: 'error', message, ...envelope }];
  }
}

/** Message parts, and the notice at the start of every turn that no goal is set. Neither is an event. */
const isPart = ({ type, goal_state }: JsonObject): boolean =>
  MESSAGE_PARTS.has(type) || (type === 'goal_state' && objectIn(goal_state)?.goal === null);
