import type { EventEnvelope, JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { messageEvents, thinkingEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import { readTaskNotification } from '../claude-code/task-notification.ts';
import { ToolCalls, type ToolOutcome } from '../claude-code/tool-calls.ts';
import { qwenTools, unwrapCall, withText } from './tools.ts';

/**
 * Maps a session file of Qwen Code 0.24 with all turns of the session, or the file of one sub-agent. The summary covers
 * the last turn. Messages have the format of Gemini's API. The telemetry in the session's file has the usage of every
 * model call, also of sub-agents and side requests; the usage in messages only repeats it.
 */
export class QwenTranscript implements NativeMapper {
  readonly #record = new SessionRecord();
  readonly #tools: ToolCalls;
  readonly #subagents = new Set<string>();

  constructor({ workdir }: MapperPlace = {}) {
    this.#tools = new ToolCalls(qwenTools, workdir);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const events = enveloped(this.#events(item), this.#envelope(item));
    const start = this.#record.startedAt('qwen-code', item);
    this.#tools.workdir ??= textIn(item.cwd);
    if (events) return [...start, ...events];
    return start.length > 0 ? [...start, { type: 'raw', native: item }] : undefined;
  }

  summary(): NativeSummary {
    return this.#record.summary();
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      // The model still has to answer this message.
      case 'user':
        this.#forgetEnding();
        return item.subtype === 'notification' ? this.#notificationEvents(item) : this.#promptEvents(item);
      case 'assistant': {
        const parts = partsOf(item);
        this.#record.ending = parts.some((part) => 'functionCall' in part) ? undefined : 'completed';
        return parts.flatMap((part) => this.#partEvents(part));
      }
      case 'tool_result':
        this.#forgetEnding();
        return partsOf(item).flatMap((part) => this.#resultEvents(part, item));
      case 'system':
        return this.#systemEvents(item);
      default:
        return undefined;
    }
  }

  #promptEvents(item: JsonObject): StreamEvent[] {
    if (item.isSidechain !== true) this.#record.beginTurn();
    return partsOf(item).map((part): StreamEvent => {
      const text = textIn(part.text);
      const isPrompt = text !== undefined && !text.startsWith('<system-reminder>');
      return isPrompt
        ? { type: 'message', role: 'user', text: text.trimEnd() }
        : { type: 'raw', native: part };
    });
  }

  #forgetEnding(): void {
    this.#record.ending = undefined;
    this.#record.failure = undefined;
  }

  #notificationEvents(item: JsonObject): StreamEvent[] | undefined {
    const ended = readTaskNotification(textIn(partsOf(item)[0]?.text) ?? '');
    return ended && this.#tools.ended(ended.callId, ended.status, ended.output);
  }

  #partEvents(part: JsonObject): StreamEvent[] {
    const call = objectIn(part.functionCall);
    if (call) {
      const { name, input } = unwrapCall(requiredText(call.name), call.args ?? {});
      const callId = requiredText(call.id);
      if (qwenTools.subagent.has(name)) this.#subagents.add(callId);
      return this.#tools.called(callId, name, input);
    }
    const text = textIn(part.text);
    if (text === undefined) return [{ type: 'raw', native: part }];
    return part.thought === true ? thinkingEvents(text) : messageEvents('assistant', text);
  }

  #resultEvents(part: JsonObject, item: JsonObject): StreamEvent[] {
    const response = objectIn(part.functionResponse);
    if (!response) return [{ type: 'raw', native: part }];
    const record = objectIn(item.toolCallResult) ?? {};
    const outcome = outcomeOf(response, record);
    const about = { name: textIn(response.name), reason: textIn(outcome.output) };
    const denials = record.errorType === 'execution_denied' ? this.#tools.denied(outcome.callId, about) : [];
    return [...denials, ...this.#tools.result(outcome)];
  }

  #systemEvents({ subtype, systemPayload }: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(systemPayload) ?? {};
    if (subtype === 'chat_compression') return [compactionEvent(payload)];
    if (subtype !== 'ui_telemetry') return undefined;
    const event = objectIn(payload.uiEvent) ?? {};
    return enveloped(this.#telemetryEvents(event), present({ parentCallId: this.#parentOf(event) }));
  }

  #telemetryEvents(event: JsonObject): StreamEvent[] | undefined {
    switch (event['event.name']) {
      case 'qwen-code.api_response':
        return this.#usageEvents(event);
      case 'qwen-code.api_error': {
        const message = textIn(event.error_message) ?? 'A model call failed.';
        if (isOwnCall(event)) {
          this.#record.ending = 'failed';
          this.#record.failure = message;
        }
        return [{ type: 'error', message }];
      }
      // The call and its result also come as messages; for sub-agents, in their own files.
      case 'qwen-code.tool_call':
        return [];
      default:
        return undefined;
    }
  }

  #usageEvents(event: JsonObject): StreamEvent[] {
    // The failed call was retried.
    if (this.#record.ending === 'failed' && isOwnCall(event)) this.#forgetEnding();
    const cached = tokensIn(event.cached_content_token_count);
    const usage: Usage = {
      inputTokens: Math.max(0, tokensIn(event.input_token_count) - cached),
      outputTokens: tokensIn(event.output_token_count),
      cacheReadTokens: cached,
      reasoningTokens: tokensIn(event.thoughts_token_count),
    };
    const latencyMs = Number.isFinite(event.duration_ms) ? Math.max(0, Number(event.duration_ms)) : undefined;
    return this.#record.used(usage, { model: textIn(event.model), latencyMs });
  }

  /** The call that started the sub-agent behind a model call. No call started Qwen Code's internal agents. */
  #parentOf({ subagent_id: id, subagent_name: name }: JsonObject): string | undefined {
    const callId = callIdOf(id, name);
    return callId !== undefined && this.#subagents.has(callId) ? callId : undefined;
  }

  #envelope(item: JsonObject): EventEnvelope {
    const parentCallId = item.isSidechain === true ? callIdOf(item.agentId, item.agentName) : undefined;
    return this.#record.envelope(item, parentCallId);
  }
}

function partsOf(item: JsonObject): JsonObject[] {
  const { parts } = objectIn(item.message) ?? {};
  const objects = objectsIn(parts);
  if (!Array.isArray(parts) || objects.length !== parts.length) throw new TypeError('No message.');
  return objects;
}

function outcomeOf(response: JsonObject, { status, resultDisplay }: JsonObject): ToolOutcome {
  const { output, error, ...rest } = objectIn(response.response) ?? {};
  const isFailed = status === 'error' || error !== undefined;
  const outcome = withText({
    callId: requiredText(response.id),
    output: output ?? error ?? (Object.keys(rest).length > 0 ? rest : undefined),
    status: isFailed ? 'failed' : status === 'cancelled' ? 'rejected' : 'completed',
  });
  const { exitCode } = objectIn(resultDisplay) ?? {};
  return typeof exitCode === 'number' ? { ...outcome, exitCode } : outcome;
}

/** The compressed history begins with the summary of the dropped messages. */
function compactionEvent({ compressedHistory }: JsonObject): StreamEvent {
  const [first] = objectsIn(compressedHistory);
  const [part] = objectsIn(first?.parts);
  return { type: 'compaction', ...present({ summary: textIn(part?.text) }) };
}

/** Whether the agent itself made a model call for the turn, and not a sub-agent or a side request. */
const isOwnCall = ({ prompt_id: id }: JsonObject): boolean =>
  typeof id === 'string' && id.includes('########');

/** The id of the call that started a sub-agent. The sub-agent's id is its name and that call id. */
function callIdOf(agentId: JsonValue | undefined, name: JsonValue | undefined): string | undefined {
  if (typeof agentId !== 'string') return undefined;
  return typeof name === 'string' && agentId.startsWith(`${name}-`)
    ? agentId.slice(name.length + 1)
    : agentId;
}
