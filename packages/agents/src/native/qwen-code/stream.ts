import {
  addUsage,
  emptyUsage,
  type JsonObject,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { approvalPolicyIn } from '../../kit/approval-policy.ts';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { mcpFailures } from '../../kit/mcp-failures.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import {
  assistantEvents,
  type Calls,
  MESSAGE_PARTS,
  plainOutcome,
  plainText,
  takePart,
  userEvents,
} from '../claude-code/content.ts';
import { ownFields } from '../claude-code/own-fields.ts';
import { messageIn, streamEnvelope } from '../claude-code/session.ts';
import { ToolCalls } from '../claude-code/tool-calls.ts';
import { usageBeyond } from '../claude-code/usage-buckets.ts';
import { qwenTools, streamUsage, unwrapCall, withText } from './tools.ts';

const SESSION_USAGE_FIELDS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'total_tokens'];

/**
 * Maps the output of `qwen --output-format stream-json`, 0.24, which has Claude Code's format. A reply has one message
 * per kind of content, and the last one has the usage of all. A `result` has the usage of the whole session; only there
 * are sub-agents and side requests counted. `before` is the usage of the session before this turn, all 0 in a new
 * session; without it, the turn's usage covers only the agent's own calls. The text of a
 * message that was never completed is a message, too, if the output has partial messages. `--output-format json` prints
 * the same items in one list.
 */
export class QwenStream implements NativeMapper {
  /** Usage of the whole session up to the last `result`: the next turn's `before`. */
  sessionUsage: Usage | undefined;
  readonly #before: Usage | undefined;
  readonly #record = new SessionRecord();
  readonly #calls: Calls;
  readonly #texts = new OpenTexts();
  #otherKind: string | undefined;
  #lastError: string | undefined;
  #metadata: JsonObject = {};

  constructor({ workdir }: MapperPlace = {}, before?: Usage) {
    this.#before = before;
    this.#calls = { tools: new ToolCalls(qwenTools, workdir), unwrap: unwrapCall };
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    return enveloped(this.#events(item), streamEnvelope(item));
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'assistant':
        this.#texts.close(textIn(item.parent_tool_use_id) ?? '');
        return this.#assistantEvents(messageIn(item));
      case 'user': {
        // The stream repeats only the prompts of sub-agents.
        const isPrompt = typeof item.parent_tool_use_id === 'string';
        const outcomeOf = (block: JsonObject) => withText(plainOutcome(block));
        return userEvents({ content: messageIn(item).content, isPrompt, outcomeOf }, this.#calls.tools);
      }
      case 'stream_event': {
        const part = objectIn(item.event) ?? {};
        return isPart(part) ? takePart(this.#texts, part, textIn(item.parent_tool_use_id)) : undefined;
      }
      case 'system':
        return item.subtype === 'init' ? this.#start(item) : this.#systemEvents(item);
      case 'result':
        return this.#resultEvents(item);
      default:
        return undefined;
    }
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  summary(): NativeSummary {
    const facts = approvalPolicyIn(this.#metadata.permission_mode);
    const other = present({ otherKind: this.#otherKind });
    return { ...this.#record.summary(), ...other, facts, metadata: { 'qwen-code': this.#metadata } };
  }

  #assistantEvents({ content, model, usage }: JsonObject): StreamEvent[] {
    const text = plainText(content);
    // A provider error comes as a message. If the model wrote the same text, the `result` still decides the ending.
    if (text?.startsWith('[API Error: ')) return this.#error(text);
    const events = assistantEvents(content, this.#calls);
    const call = streamUsage(objectIn(usage) ?? {});
    return totalTokens(call) === 0
      ? events
      : [...events, ...this.#record.used(call, { model: textIn(model) })];
  }

  #systemEvents({ subtype, data }: JsonObject): StreamEvent[] | undefined {
    const { reason, tool_use_id: callId, status } = objectIn(data) ?? {};
    switch (subtype) {
      case 'retry':
        return this.#error(`The model call is made again (${textIn(reason) ?? 'no reason given'}).`);
      case 'task_started':
        return [];
      case 'task_notification':
        return this.#calls.tools.ended(textIn(callId) ?? '', textIn(status) ?? '');
      default:
        return undefined;
    }
  }

  #start(item: JsonObject): StreamEvent[] | undefined {
    if (item.claude_code_version !== undefined) {
      this.#otherKind = 'claude-code';
      return undefined;
    }
    this.#calls.tools.workdir ??= textIn(item.cwd);
    this.#metadata = ownFields(item, ['permission_mode']);
    const { qwen_code_version: runtimeVersion, model, cwd: workingDir = this.#calls.tools.workdir } = item;
    const facts = present({ runtimeVersion, model, workingDir });
    const started = this.#record.started('qwen-code', requiredText(item.session_id), facts);
    return [started, ...mcpFailures(item.mcp_servers)];
  }

  #resultEvents(item: JsonObject): StreamEvent[] {
    const isFailed = item.subtype !== 'success' || item.is_error === true;
    const session = objectIn(item.usage);
    this.#record.sessionId = textIn(item.session_id) ?? this.#record.sessionId;
    this.#record.ending = isFailed ? 'failed' : 'completed';
    this.#record.failure = undefined;
    if (item.structured_result !== undefined) this.#record.data = item.structured_result;
    Object.assign(
      this.#metadata,
      ownFields(item, ['subtype', 'num_turns', 'duration_ms', 'duration_api_ms']),
    );
    if (session) this.#metadata.session_usage = ownFields(session, SESSION_USAGE_FIELDS);
    return [
      ...(session ? this.#sessionUsageEvents(streamUsage(session)) : []),
      ...objectsIn(item.permission_denials).flatMap(({ tool_use_id: callId, tool_name: name }) =>
        typeof callId === 'string' ? this.#calls.tools.denied(callId, { name: textIn(name) }) : [],
      ),
      ...(isFailed ? this.#failure(item) : []),
    ];
  }

  #sessionUsageEvents(session: Usage): StreamEvent[] {
    this.sessionUsage = session;
    this.#record.usage ??= emptyUsage();
    if (!this.#before) return [];
    const rest = usageBeyond(session, addUsage(this.#before, this.#record.usage));
    return rest ? this.#record.used(rest, { calls: null }) : [];
  }

  #failure(item: JsonObject): StreamEvent[] {
    const message =
      textIn(objectIn(item.error)?.message) ?? textIn(item.result) ?? textIn(item.subtype) ?? '';
    this.#record.failure = message;
    return message === this.#lastError ? [] : this.#error(message);
  }

  #error(message: string): StreamEvent[] {
    this.#lastError = message;
    return [{ type: 'error', message }];
  }
}

/** Message parts, and the notice at the start of every turn that no goal is set. Neither is an event. */
const isPart = ({ type, goal_state }: JsonObject): boolean =>
  MESSAGE_PARTS.has(type) || (type === 'goal_state' && objectIn(goal_state)?.goal === null);
