import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';
import { costIn, objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped } from '../../kit/session-record.ts';
import { plainText } from './content.ts';
import { ClaudeSession, messageIn } from './session.ts';
import { readTaskNotification } from './task-notification.ts';
import { TranscriptUsage } from './transcript-usage.ts';

/** Types of items that repeat other items or requests, or that are the agent's own bookkeeping. */
const COPIES = new Set([
  'api-request',
  'api-request-blob',
  'api-request-shape',
  'atis-latch',
  'cost-state',
  'last-prompt',
  'mode',
  'queue-operation',
  'tools-used',
]);

/**
 * Maps a session file of Claude Code 2.1 with all turns of the session, or the file of one sub-agent. The summary covers
 * the last turn. The usage of sub-agents is in their own files; the usage of a compaction shows only in the cost. The
 * file of a sub-agent does not name the call that started it, so its events have the sub-agent's id as `parentCallId`.
 * The result of that call, in the session's file, names the same id as `agentId`.
 */
export class ClaudeTranscript implements NativeMapper {
  readonly #session: ClaudeSession;
  readonly #usage: TranscriptUsage;
  readonly #callOfAgent = new Map<string, string>();
  #sessionCostUsd = 0;
  #costUsdBefore = 0;

  constructor(place: MapperPlace = {}) {
    this.#session = new ClaudeSession(place);
    this.#usage = new TranscriptUsage(this.#session.record);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { type } = item;
    if (type === 'cost-state') this.#sessionCostUsd = costIn(item.totalCostUSD) ?? 0;
    if (typeof type === 'string' && COPIES.has(type)) return [];
    // It repeats the whole prompt.
    if (type === 'attachment' && objectIn(item.attachment)?.type === 'prompt_snapshot') return [];
    const mapped = enveloped(this.#events(item), this.#envelope(item));
    const events = this.#session.behindCompaction(mapped);
    const start = this.#session.record.startedAt('claude-code', item);
    this.#session.tools.workdir ??= textIn(item.cwd);
    if (events) return [...start, ...events];
    return start.length > 0 ? [...start, { type: 'raw', native: item }] : undefined;
  }

  summary(): NativeSummary {
    this.#session.record.costUsd = this.#sessionCostUsd - this.#costUsdBefore;
    return this.#session.record.summary();
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'assistant':
        return this.#assistantEvents(item);
      case 'user':
        return this.#userEvents(item);
      case 'system':
        if (item.subtype === 'compact_boundary') return this.#session.compacted();
        if (item.subtype !== 'api_error') return undefined;
        return this.#retryEvents(item);
      default:
        return undefined;
    }
  }

  #assistantEvents(item: JsonObject): StreamEvent[] | undefined {
    const { record } = this.#session;
    const message = messageIn(item);
    const isError = item.isApiErrorMessage === true;
    const events = this.#session.assistant(message, isError);
    if (isError) {
      record.ending = 'failed';
      record.failure = this.#session.lastError;
      return events;
    }
    record.ending = message.stop_reason === 'end_turn' ? 'completed' : undefined;
    record.failure = undefined;
    return events && [...events, ...this.#usage.message(message)];
  }

  #userEvents(item: JsonObject): StreamEvent[] | undefined {
    const message = messageIn(item);
    if (item.isCompactSummary === true) return this.#session.compaction(message);
    // The model still has to answer this message.
    this.#session.record.ending = undefined;
    const text = plainText(message.content);
    const ended = objectIn(item.origin)?.kind === 'task-notification' && readTaskNotification(text ?? '');
    if (ended) return this.#session.tools.ended(ended.callId, ended.status, ended.output);
    const ids = callIds(message);
    const isCommand = text?.startsWith('<command-name>') === true;
    const isOutput = text?.startsWith('<local-command-stdout>') === true;
    const isSaid = ids.length === 0 && item.isMeta !== true && !isOutput;
    // A slash command of Claude Code, such as /compact, also begins a turn.
    if (isSaid && item.isSidechain !== true) this.#beginTurn();
    this.#rememberAgent(item, ids);
    const denials = isRefused(item) ? this.#denials(item, ids) : [];
    const isPrompt = isSaid && !isCommand;
    const events = this.#session.user(message, { isPrompt, toolResult: item.toolUseResult });
    return events && [...denials, ...events];
  }

  #beginTurn(): void {
    this.#session.record.beginTurn();
    this.#costUsdBefore = this.#sessionCostUsd;
  }

  #retryEvents({ error, retryAttempt, maxRetries, retryInMs }: JsonObject): StreamEvent[] {
    const { formatted, message } = objectIn(error) ?? {};
    const cause = textIn(formatted) ?? textIn(message) ?? 'unknown';
    return this.#session.retry(cause, [retryAttempt, maxRetries, retryInMs]);
  }

  #denials({ toolUseResult }: JsonObject, callIds: string[]): StreamEvent[] {
    const reason = textIn(toolUseResult)?.replace(/^Error: /, '');
    return callIds.flatMap((callId) => this.#session.tools.denied(callId, { reason }));
  }

  #rememberAgent({ toolUseResult }: JsonObject, [callId]: string[]): void {
    const agentId = objectIn(toolUseResult)?.agentId;
    if (typeof agentId === 'string' && callId !== undefined) this.#callOfAgent.set(agentId, callId);
  }

  #envelope(item: JsonObject): EventEnvelope {
    const agent = item.isSidechain === true ? textIn(item.agentId) : undefined;
    return this.#session.record.envelope(item, agent && (this.#callOfAgent.get(agent) ?? agent));
  }
}

const isRefused = ({ permissionDecision }: JsonObject): boolean =>
  objectIn(permissionDecision)?.decision === 'reject';

const callIds = ({ content }: JsonObject): string[] =>
  objectsIn(content).flatMap(({ tool_use_id: id }) => (typeof id === 'string' ? [id] : []));
