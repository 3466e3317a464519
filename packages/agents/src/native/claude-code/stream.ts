import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { approvalPolicyIn } from '../../kit/approval-policy.ts';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { messageEvents } from '../../kit/mapped-events.ts';
import { mcpFailures } from '../../kit/mcp-failures.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { enveloped } from '../../kit/session-record.ts';
import { takePart } from './content.ts';
import { ownFields } from './own-fields.ts';
import { ClaudeSession, messageIn, streamEnvelope } from './session.ts';
import { StreamUsage } from './stream-usage.ts';
import type { Denial } from './tool-calls.ts';

/** Subtypes of `system` items that only show progress or repeat what another item says. */
const ANNOUNCEMENTS = new Set([
  'thinking_tokens',
  'task_progress',
  'task_updated',
  'background_tasks_changed',
]);

const REFUSALS: ReadonlySet<unknown> = new Set([401, 403]);

const INIT_FIELDS = ['permissionMode', 'apiKeySource', 'output_style'];
const RESULT_FIELDS = [
  'subtype',
  'num_turns',
  'duration_ms',
  'duration_api_ms',
  'stop_reason',
  'terminal_reason',
  'api_error_status',
  'api_error_type',
  'api_error',
  'total_cost_usd',
];

/**
 * Maps the output of `claude --print --output-format stream-json`, 2.1, with or without `--include-partial-messages`.
 * The text of a message that was never completed is a message, too; without partial messages it is not in the output.
 * Also reads the one `result` of `--output-format json`. A turn has several `result` items when
 * background sub-agents report; the last one counts.
 */
export class ClaudeStream implements NativeMapper {
  readonly #session: ClaudeSession;
  readonly #usage: StreamUsage;
  readonly #denied = new Set<string>();
  readonly #texts = new OpenTexts();
  #hasStarted = false;
  #otherKind: string | undefined;
  #metadata: JsonObject = {};
  #refusals = 0;

  /** `isNew`: the session has no earlier turn. */
  constructor(place: MapperPlace = {}, isNew = false) {
    this.#session = new ClaudeSession(place);
    this.#usage = new StreamUsage(this.#session.record, isNew);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    return this.#session.behindCompaction(enveloped(this.#events(item), streamEnvelope(item)));
  }

  refusals = (): number => this.#refusals;

  summary(): NativeSummary {
    const metadata = { 'claude-code': this.#metadata };
    const facts = approvalPolicyIn(this.#metadata.permissionMode);
    return {
      ...this.#session.record.summary(),
      // The one result of `--output-format json` has no start and no messages.
      ...(!this.#hasStarted && { toolCallsByName: null }),
      ...present({ otherKind: this.#otherKind }),
      ...{ facts, metadata },
    };
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'assistant': {
        this.#refusals = 0;
        const isError = item.is_api_error_message === true || typeof item.error === 'string';
        const message = messageIn(item);
        if (!isError) this.#usage.message(message);
        this.#texts.close(textIn(item.parent_tool_use_id) ?? '');
        return this.#session.assistant(message, isError);
      }
      case 'user':
        return this.#userEvents(item, messageIn(item));
      case 'stream_event':
        return this.#partEvents(objectIn(item.event) ?? {}, textIn(item.parent_tool_use_id));
      case 'system':
        return this.#systemEvents(item);
      case 'result':
        return this.#resultEvents(item);
      case 'tool_progress':
      case 'keep_alive':
        return [];
      default:
        return undefined;
    }
  }

  #partEvents(part: JsonObject, parentCallId: string | undefined): StreamEvent[] | undefined {
    const cutOff = takePart(this.#texts, part, parentCallId);
    const events = this.#usage.part(part, parentCallId);
    return events && [...cutOff, ...events];
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  #userEvents(item: JsonObject, message: JsonObject): StreamEvent[] | undefined {
    const isSynthetic = item.isSynthetic === true;
    if (isSynthetic && this.#session.hasCompacted) return this.#session.compaction(message);
    // The stream repeats only the prompts of sub-agents. Claude Code added any other text itself.
    const isPrompt = typeof item.parent_tool_use_id === 'string' && !isSynthetic;
    const denials = refusedIn(item.tool_result_meta).flatMap((callId) => this.#denialEvents(callId, {}));
    const events = this.#session.user(message, { isPrompt, toolResult: item.tool_use_result });
    return events && [...denials, ...events];
  }

  #systemEvents(item: JsonObject): StreamEvent[] | undefined {
    const { subtype, tool_use_id: callId } = item;
    switch (subtype) {
      case 'init':
        return this.#start(item);
      case 'api_retry': {
        this.#refusals = REFUSALS.has(item.error_status) ? this.#refusals + 1 : 0;
        const status = typeof item.error_status === 'number' ? [`HTTP ${item.error_status}`] : [];
        const counts = [item.attempt, item.max_retries, item.retry_delay_ms];
        return this.#session.retry([item.error, ...status].join(', '), counts);
      }
      case 'permission_denied': {
        const about = { name: textIn(item.tool_name), reason: textIn(item.message) };
        return this.#denialEvents(requiredText(callId), about);
      }
      case 'compact_boundary':
        return this.#session.compacted();
      case 'status':
        if (item.compact_result !== 'failed') return [];
        return this.#session.error(textIn(item.compact_error) ?? 'The compaction failed.');
      case 'task_started': {
        // The prompt of a foreground task comes as a message.
        if (item.is_backgrounded !== true || typeof item.prompt !== 'string') return [];
        return [{ type: 'message', role: 'user', text: item.prompt, parentCallId: requiredText(callId) }];
      }
      case 'task_notification':
        return this.#session.tools.ended(textIn(callId) ?? '', textIn(item.status) ?? '', item.summary);
      default:
        return typeof subtype === 'string' && ANNOUNCEMENTS.has(subtype) ? [] : undefined;
    }
  }

  #start(item: JsonObject): StreamEvent[] | undefined {
    const { record } = this.#session;
    // Qwen Code prints the same format.
    if (item.qwen_code_version !== undefined) {
      this.#otherKind = 'qwen-code';
      return undefined;
    }
    const sessionId = requiredText(item.session_id);
    this.#hasStarted = true;
    if (record.sessionId === sessionId) {
      // A background task has ended and the agent continues: another `result` follows.
      record.ending = undefined;
      return [];
    }
    this.#session.tools.workdir ??= textIn(item.cwd);
    this.#metadata = ownFields(item, INIT_FIELDS);
    const {
      claude_code_version: runtimeVersion,
      model,
      cwd: workingDir = this.#session.tools.workdir,
    } = item;
    const facts = present({ runtimeVersion, model, workingDir });
    const plugins = pluginNames(item);
    const started = record.started('claude-code', sessionId, facts);
    return [{ ...started, ...(plugins.length > 0 && { plugins }) }, ...mcpFailures(item.mcp_servers)];
  }

  #resultEvents(item: JsonObject): StreamEvent[] {
    const { record } = this.#session;
    const isFailed = item.subtype !== 'success' || item.is_error === true;
    const isWaiting = item.terminal_reason === 'tool_deferred';
    record.sessionId = textIn(item.session_id) ?? record.sessionId;
    record.ending = isFailed ? 'failed' : isWaiting ? 'waiting' : 'completed';
    record.failure = undefined;
    if (item.structured_output !== undefined) record.data = item.structured_output;
    Object.assign(this.#metadata, ownFields(item, RESULT_FIELDS));
    const answer = this.#hasStarted || isFailed ? '' : (textIn(item.result) ?? '');
    return [
      ...messageEvents('assistant', answer),
      ...this.#usage.result(item),
      // Denials that no other item reported.
      ...objectsIn(item.permission_denials).flatMap(({ tool_use_id: callId, tool_name: name }) =>
        typeof callId === 'string' ? this.#denialEvents(callId, { name: textIn(name) }) : [],
      ),
      ...(isFailed ? this.#failure(item) : []),
      ...(isWaiting ? waitingEvents(objectIn(item.deferred_tool_use) ?? {}) : []),
    ];
  }

  /** Several items report the same refusal; the first one counts. */
  #denialEvents(callId: string, about: Denial): StreamEvent[] {
    if (this.#denied.has(callId)) return [];
    this.#denied.add(callId);
    return this.#session.tools.denied(callId, about);
  }

  /** A provider error is a `success` with `is_error`. A message has already reported its text. */
  #failure(item: JsonObject): StreamEvent[] {
    const errors = Array.isArray(item.errors) ? item.errors.filter((error) => typeof error === 'string') : [];
    const message =
      errors.length > 0 ? errors.join('\n') : (textIn(item.result) ?? textIn(item.subtype) ?? '');
    this.#session.record.failure = message;
    return message === this.#session.lastError ? [] : this.#session.error(message);
  }
}

/** The ids of the calls in a user item that were not allowed. */
const refusedIn = (meta: JsonValue | undefined): string[] =>
  objectsIn(meta).flatMap(({ id, permission_decision: decision }) =>
    typeof id === 'string' && objectIn(decision)?.decision === 'reject' ? [id] : [],
  );

/** Names of the loaded plugins, without the built-in ones. */
const pluginNames = ({ plugins }: JsonObject): string[] =>
  objectsIn(plugins)
    .filter(({ path }) => path !== 'builtin')
    .flatMap(({ name }) => textIn(name) ?? []);

/** A hook deferred the decision about a call. The session can resume once somebody decides. */
function waitingEvents(call: JsonObject): StreamEvent[] {
  const { id, name, input = {} } = call;
  if (typeof id !== 'string' || typeof name !== 'string') return [];
  const prompt = `The call of ${name} waits for a decision.`;
  return [
    { type: 'approval.requested', callId: id, name },
    { type: 'input.requested', request: { id, kind: 'approval', prompt, data: { name, input } } },
  ];
}
