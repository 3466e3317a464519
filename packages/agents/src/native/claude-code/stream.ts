import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import { ownFields } from './own-fields.ts';
import { ClaudeSession, messageIn, streamEnvelope } from './session.ts';
import { sessionStarted } from './session-started.ts';
import { StreamUsage } from './stream-usage.ts';
import type { Denial } from './tool-calls.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

/** Subtypes of `system` items that only show progress or repeat what another item says. */
const ANNOUNCEMENTS = new Set([
  'thinking_tokens',
  'task_progress',
  'task_updated',
  'background_tasks_changed',
]);

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
 * Parts of a message that was never completed stay in the native bytes only. A turn has several `result` items when
 * background sub-agents report; the last one counts.
 */
export function createClaudeCodeMapper(place: MapperPlace = {}): NativeMapper {
  return new ClaudeStream(place);
}

class ClaudeStream implements NativeMapper {
  readonly #session: ClaudeSession;
  readonly #usage = new StreamUsage();
  readonly #denied = new Set<string>();
  #workdir: string | undefined;
  #summary: Omit<NativeSummary, 'metadata'> = {};
  #metadata: JsonObject = {};

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
    this.#session = new ClaudeSession(() => this.#workdir);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    return this.#session.behindCompaction(this.#events(item));
  }

  summary(): NativeSummary {
    const metadata = { 'claude-code': this.#metadata };
    return { ...this.#summary, ...this.#usage.summary(), metadata };
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'assistant': {
        const isError = item.is_api_error_message === true || typeof item.error === 'string';
        return this.#session.assistant({ message: messageIn(item), envelope: streamEnvelope(item) }, isError);
      }
      case 'user':
        return this.#userEvents(item);
      case 'stream_event':
        return this.#usage.part(objectIn(item.event) ?? {}, streamEnvelope(item));
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

  #userEvents(item: JsonObject): StreamEvent[] | undefined {
    const message = messageIn(item);
    const envelope = streamEnvelope(item);
    if (item.isSynthetic === true && this.#session.hasCompacted) {
      return this.#session.compaction(message, envelope);
    }
    // The stream repeats only the prompts of sub-agents. Claude Code added any other text itself.
    const isPrompt = envelope.parentCallId !== undefined && item.isSynthetic !== true;
    const refused = refusedIn(item.tool_result_meta);
    const denials = refused.flatMap((callId) => this.#denialEvents(callId, {}, envelope));
    const events = this.#session.user({ message, envelope, isPrompt, toolResult: item.tool_use_result });
    return events && [...denials, ...events];
  }

  #systemEvents(item: JsonObject): StreamEvent[] | undefined {
    const { subtype } = item;
    const envelope = streamEnvelope(item);
    switch (subtype) {
      case 'init':
        return this.#start(item);
      case 'api_retry':
        return this.#session.error(retryMessage(item), envelope);
      case 'permission_denied': {
        const about = { name: textIn(item.tool_name), reason: textIn(item.message) };
        return this.#denialEvents(requiredText(item.tool_use_id), about, envelope);
      }
      case 'compact_boundary':
        return this.#session.compacted();
      case 'status':
        if (item.compact_result !== 'failed') return [];
        return this.#session.error(textIn(item.compact_error) ?? 'The compaction failed.', envelope);
      case 'task_started': {
        // The prompt of a foreground task comes as a message.
        const { prompt, tool_use_id: parentCallId } = item;
        if (item.is_backgrounded !== true || typeof prompt !== 'string') return [];
        return [{ type: 'message', role: 'user', text: prompt, parentCallId: requiredText(parentCallId) }];
      }
      case 'task_notification': {
        const { tool_use_id: callId, status, summary } = item;
        return this.#session.tools.ended(textIn(callId) ?? '', textIn(status) ?? '', summary, envelope);
      }
      default:
        return typeof subtype === 'string' && ANNOUNCEMENTS.has(subtype) ? [] : undefined;
    }
  }

  #start(item: JsonObject): StreamEvent[] {
    const sessionId = requiredText(item.session_id);
    if (this.#summary.sessionId === sessionId) {
      // A background task has ended and the agent continues: another `result` follows.
      delete this.#summary.ending;
      return [];
    }
    this.#workdir ??= textIn(item.cwd);
    this.#summary.sessionId = sessionId;
    this.#metadata = ownFields(item, INIT_FIELDS);
    const { claude_code_version: runtimeVersion, model, cwd: workingDir = this.#workdir } = item;
    const started = sessionStarted('claude-code', sessionId, { runtimeVersion, model, workingDir });
    const plugins = pluginNames(item);
    return [plugins.length > 0 ? { ...started, plugins } : started];
  }

  #resultEvents(item: JsonObject): StreamEvent[] {
    const isFailed = item.subtype !== 'success' || item.is_error === true;
    const isWaiting = item.terminal_reason === 'tool_deferred';
    const { failure: _, ...summary } = this.#summary;
    const sessionId = textIn(item.session_id);
    this.#summary = {
      ...summary,
      ...present({ sessionId }),
      ending: isFailed ? 'failed' : isWaiting ? 'waiting' : 'completed',
      ...present({ data: item.structured_output }),
    };
    Object.assign(this.#metadata, ownFields(item, RESULT_FIELDS));
    return [
      ...this.#usage.result(item),
      // Denials that no other item reported.
      ...objectsIn(item.permission_denials).flatMap(({ tool_use_id: callId, tool_name: name }) =>
        typeof callId === 'string' ? this.#denialEvents(callId, { name: textIn(name) }, {}) : [],
      ),
      ...(isFailed ? this.#failure(item) : []),
      ...(isWaiting ? waitingEvents(objectIn(item.deferred_tool_use) ?? {}) : []),
    ];
  }

  /** Several items report the same refusal; the first one counts. */
  #denialEvents(callId: string, about: Denial, envelope: EventEnvelope): StreamEvent[] {
    if (this.#denied.has(callId)) return [];
    this.#denied.add(callId);
    return this.#session.tools.denied(callId, about, envelope);
  }

  /** A provider error is a `success` with `is_error`. A message has already reported its text. */
  #failure(item: JsonObject): StreamEvent[] {
    const errors = Array.isArray(item.errors) ? item.errors.filter((error) => typeof error === 'string') : [];
    const message =
      errors.length > 0 ? errors.join('\n') : (textIn(item.result) ?? textIn(item.subtype) ?? '');
    this.#summary.failure = textTail(message, TEXT_LIMIT_BYTES);
    return message === this.#session.lastError ? [] : this.#session.error(message, {});
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

function retryMessage({
  error,
  error_status: status,
  attempt,
  max_retries: tries,
  retry_delay_ms: delay,
}: JsonObject): string {
  const cause = [error, ...(typeof status === 'number' ? [`HTTP ${status}`] : [])].join(', ');
  return `The model call failed (${cause}); retry ${attempt} of ${tries} in ${delay} ms.`;
}

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
