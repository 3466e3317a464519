import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { costIn, momentIn, objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import { plainText } from './content.ts';
import { ClaudeSession, messageIn } from './session.ts';
import { sessionStarted } from './session-started.ts';
import { readTaskNotification } from './task-notification.ts';
import { TranscriptUsage } from './transcript-usage.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

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
export function createClaudeCodeTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new ClaudeTranscript(place);
}

/** Below the agent's home: the file of each session, and one file per sub-agent. */
export const claudeCodeTranscriptPattern = '.claude/projects/*/{*,*/subagents/*}.jsonl';

class ClaudeTranscript implements NativeMapper {
  readonly #session: ClaudeSession;
  readonly #callOfAgent = new Map<string, string>();
  readonly #usage = new TranscriptUsage();
  #workdir: string | undefined;
  #turn = -1;
  #sessionCostUsd = 0;
  #costUsdBefore = 0;
  #sessionId: string | undefined;
  #ending: NativeSummary['ending'];
  #failure: string | undefined;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
    this.#session = new ClaudeSession(() => this.#workdir);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const { type } = item;
    if (type === 'cost-state') this.#sessionCostUsd = costIn(item.totalCostUSD) ?? 0;
    if (typeof type === 'string' && COPIES.has(type)) return [];
    // It repeats the whole prompt.
    if (type === 'attachment' && objectIn(item.attachment)?.type === 'prompt_snapshot') return [];
    const events = this.#session.behindCompaction(this.#events(item));
    const start = this.#startEvents(item);
    if (events) return [...start, ...events];
    return start.length > 0 ? [...start, { type: 'raw', native: item }] : undefined;
  }

  summary(): NativeSummary {
    const costUsd = this.#sessionCostUsd - this.#costUsdBefore;
    return {
      ...present({
        ending: this.#ending,
        failure: this.#failure,
        sessionId: this.#sessionId,
        usage: this.#usage.turn,
      }),
      ...(costUsd > 0 && { costUsd }),
    };
  }

  /** Every line of the conversation names the session; the first such line starts it. */
  #startEvents({ sessionId, version, cwd, timestamp }: JsonObject): StreamEvent[] {
    if (typeof sessionId !== 'string' || this.#sessionId !== undefined) return [];
    this.#sessionId = sessionId;
    this.#workdir ??= textIn(cwd);
    const fields = { runtimeVersion: version, model: undefined, workingDir: cwd };
    return [sessionStarted('claude-code', sessionId, fields, momentIn(timestamp))];
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
        return this.#session.error(errorMessage(item), this.#envelope(item));
      default:
        return undefined;
    }
  }

  #assistantEvents(item: JsonObject): StreamEvent[] | undefined {
    const message = messageIn(item);
    const envelope = this.#envelope(item);
    const isError = item.isApiErrorMessage === true;
    const events = this.#session.assistant({ message, envelope }, isError);
    if (isError) {
      this.#ending = 'failed';
      this.#failure = textTail(this.#session.lastError ?? '', TEXT_LIMIT_BYTES);
      return events;
    }
    this.#ending = message.stop_reason === 'end_turn' ? 'completed' : undefined;
    this.#failure = undefined;
    return events && [...events, ...this.#usage.message(message, envelope)];
  }

  #userEvents(item: JsonObject): StreamEvent[] | undefined {
    const message = messageIn(item);
    if (item.isCompactSummary === true) return this.#session.compaction(message, this.#envelope(item));
    // The model still has to answer this message.
    this.#ending = undefined;
    const text = plainText(message.content);
    const ended = objectIn(item.origin)?.kind === 'task-notification' && readTaskNotification(text ?? '');
    if (ended) {
      return this.#session.tools.ended(ended.callId, ended.status, ended.output, this.#envelope(item));
    }
    const ids = callIds(message);
    const isCommand = text?.startsWith('<command-name>') === true;
    const isOutput = text?.startsWith('<local-command-stdout>') === true;
    const isSaid = ids.length === 0 && item.isMeta !== true && !isOutput;
    // A slash command of Claude Code, such as /compact, also begins a turn.
    if (isSaid && item.isSidechain !== true) this.#beginTurn();
    this.#rememberAgent(item, ids);
    const envelope = this.#envelope(item);
    const denials = isRefused(item) ? this.#denials(item, ids, envelope) : [];
    const events = this.#session.user({
      message,
      envelope,
      isPrompt: isSaid && !isCommand,
      toolResult: item.toolUseResult,
    });
    return events && [...denials, ...events];
  }

  #beginTurn(): void {
    this.#turn += 1;
    this.#usage.beginTurn();
    this.#costUsdBefore = this.#sessionCostUsd;
    this.#failure = undefined;
  }

  #denials({ toolUseResult }: JsonObject, callIds: string[], envelope: EventEnvelope): StreamEvent[] {
    const reason = textIn(toolUseResult)?.replace(/^Error: /, '');
    return callIds.flatMap((callId) => this.#session.tools.denied(callId, { reason }, envelope));
  }

  #rememberAgent({ toolUseResult }: JsonObject, [callId]: string[]): void {
    const agentId = objectIn(toolUseResult)?.agentId;
    if (typeof agentId === 'string' && callId !== undefined) this.#callOfAgent.set(agentId, callId);
  }

  #envelope({ timestamp, isSidechain, agentId }: JsonObject): EventEnvelope {
    const agent = isSidechain === true ? textIn(agentId) : undefined;
    return {
      ...momentIn(timestamp),
      ...(this.#turn >= 0 && { turn: this.#turn }),
      ...(agent !== undefined && { parentCallId: this.#callOfAgent.get(agent) ?? agent }),
    };
  }
}

const isRefused = ({ permissionDecision }: JsonObject): boolean =>
  objectIn(permissionDecision)?.decision === 'reject';

const callIds = ({ content }: JsonObject): string[] =>
  objectsIn(content).flatMap(({ tool_use_id: id }) => (typeof id === 'string' ? [id] : []));

/** The error of a model call that Claude Code retries. */
function errorMessage({ error, retryAttempt, maxRetries, retryInMs }: JsonObject): string {
  const { formatted, message } = objectIn(error) ?? {};
  const cause = textIn(formatted) ?? textIn(message) ?? 'unknown';
  return `The model call failed (${cause}); retry ${retryAttempt} of ${maxRetries} in ${retryInMs} ms.`;
}
