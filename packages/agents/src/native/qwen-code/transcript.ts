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
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import { sessionStarted } from '../claude-code/session-started.ts';
import { readTaskNotification } from '../claude-code/task-notification.ts';
import { ToolCalls, type ToolOutcome } from '../claude-code/tool-calls.ts';
import { qwenTools, unwrapCall, withText } from './tools.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

/**
 * Maps a session file of Qwen Code 0.24 with all turns of the session, or the file of one sub-agent. The summary covers
 * the last turn. Messages have the format of Gemini's API. The telemetry in the session's file has the usage of every
 * model call, also of sub-agents and side requests; the usage in messages only repeats it.
 */
export function createQwenCodeTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new QwenTranscript(place);
}

/** Below the agent's home: the file of each session, and one file per sub-agent. */
export const qwenCodeTranscriptPattern = '.qwen/projects/*/{chats/*,subagents/*/*}.jsonl';

class QwenTranscript implements NativeMapper {
  readonly #tools: ToolCalls;
  readonly #subagents = new Set<string>();
  #workdir: string | undefined;
  #turn = -1;
  #usage: Usage | undefined;
  #sessionId: string | undefined;
  #ending: NativeSummary['ending'];
  #failure: string | undefined;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
    this.#tools = new ToolCalls(qwenTools, () => this.#workdir);
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const events = this.#events(item);
    const start = this.#startEvents(item);
    if (events) return [...start, ...events];
    return start.length > 0 ? [...start, { type: 'raw', native: item }] : undefined;
  }

  summary(): NativeSummary {
    return {
      ...present({
        ending: this.#ending,
        failure: this.#failure,
        sessionId: this.#sessionId,
        usage: this.#usage,
      }),
    };
  }

  /** Every line names the session; the first line starts it. */
  #startEvents({ sessionId, version, cwd, timestamp }: JsonObject): StreamEvent[] {
    if (typeof sessionId !== 'string' || this.#sessionId !== undefined) return [];
    this.#sessionId = sessionId;
    this.#workdir ??= textIn(cwd);
    const fields = { runtimeVersion: version, model: undefined, workingDir: cwd };
    return [sessionStarted('qwen-code', sessionId, fields, momentIn(timestamp))];
  }

  #events(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      // The model still has to answer this message.
      case 'user':
        this.#forgetEnding();
        return item.subtype === 'notification' ? this.#notificationEvents(item) : this.#promptEvents(item);
      case 'assistant':
        return this.#assistantEvents(item);
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
    if (item.isSidechain !== true) {
      this.#turn += 1;
      this.#usage = undefined;
    }
    const envelope = this.#envelope(item);
    return partsOf(item).map((part): StreamEvent => {
      const text = textIn(part.text);
      const isPrompt = text !== undefined && !text.startsWith('<system-reminder>');
      if (!isPrompt) return { type: 'raw', native: part, ...envelope };
      return { type: 'message', role: 'user', text: text.trimEnd(), ...envelope };
    });
  }

  #forgetEnding(): void {
    this.#ending = undefined;
    this.#failure = undefined;
  }

  #notificationEvents(item: JsonObject): StreamEvent[] | undefined {
    const [part] = partsOf(item);
    const ended = readTaskNotification(textIn(part?.text) ?? '');
    return ended && this.#tools.ended(ended.callId, ended.status, ended.output, this.#envelope(item));
  }

  #assistantEvents(item: JsonObject): StreamEvent[] {
    const envelope = this.#envelope(item);
    const parts = partsOf(item);
    this.#ending = parts.some((part) => 'functionCall' in part) ? undefined : 'completed';
    return parts.flatMap((part) => this.#partEvents(part, envelope));
  }

  #partEvents(part: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const call = objectIn(part.functionCall);
    if (call) {
      const { name, input } = unwrapCall(requiredText(call.name), call.args ?? {});
      const callId = requiredText(call.id);
      if (qwenTools.subagent.has(name)) this.#subagents.add(callId);
      return this.#tools.called(callId, name, input, envelope);
    }
    const text = textIn(part.text);
    if (text === undefined) return [{ type: 'raw', native: part, ...envelope }];
    if (text === '') return [];
    if (part.thought === true) return [{ type: 'thinking', text, ...envelope }];
    return [{ type: 'message', role: 'assistant', text, ...envelope }];
  }

  #resultEvents(part: JsonObject, item: JsonObject): StreamEvent[] {
    const envelope = this.#envelope(item);
    const response = objectIn(part.functionResponse);
    if (!response) return [{ type: 'raw', native: part, ...envelope }];
    const record = objectIn(item.toolCallResult) ?? {};
    const outcome = outcomeOf(response, record);
    const about = { name: textIn(response.name), reason: textIn(outcome.output) };
    const denials =
      record.errorType === 'execution_denied' ? this.#tools.denied(outcome.callId, about, envelope) : [];
    return [...denials, ...this.#tools.result(outcome, envelope)];
  }

  #systemEvents(item: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(item.systemPayload) ?? {};
    if (item.subtype === 'chat_compression') return [compactionEvent(payload, this.#envelope(item))];
    if (item.subtype !== 'ui_telemetry') return undefined;
    const event = objectIn(payload.uiEvent) ?? {};
    const parentCallId = this.#parentOf(event);
    const envelope = { ...this.#envelope(item), ...present({ parentCallId }) };
    switch (event['event.name']) {
      case 'qwen-code.api_response':
        return [this.#usageEvent(event, envelope)];
      case 'qwen-code.api_error': {
        const message = textIn(event.error_message) ?? 'A model call failed.';
        if (isOwnCall(event)) {
          this.#ending = 'failed';
          this.#failure = textTail(message, TEXT_LIMIT_BYTES);
        }
        return [{ type: 'error', message, ...envelope }];
      }
      // The call and its result also come as messages; for sub-agents, in their own files.
      case 'qwen-code.tool_call':
        return [];
      default:
        return undefined;
    }
  }

  #usageEvent(event: JsonObject, envelope: EventEnvelope): StreamEvent {
    // The failed call was retried.
    if (this.#ending === 'failed' && isOwnCall(event)) this.#forgetEnding();
    const cached = tokensIn(event.cached_content_token_count);
    const usage: Usage = {
      inputTokens: Math.max(0, tokensIn(event.input_token_count) - cached),
      outputTokens: tokensIn(event.output_token_count),
      cacheReadTokens: cached,
      reasoningTokens: tokensIn(event.thoughts_token_count),
    };
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    const { model, duration_ms: latencyMs } = event;
    return {
      type: 'usage',
      usage,
      ...(typeof model === 'string' && { model }),
      ...(Number.isFinite(latencyMs) && { latencyMs: Math.max(0, Number(latencyMs)) }),
      ...envelope,
    };
  }

  /** The call that started the sub-agent behind a model call. No call started Qwen Code's internal agents. */
  #parentOf({ subagent_id: id, subagent_name: name }: JsonObject): string | undefined {
    const callId = callIdOf(id, name);
    return callId !== undefined && this.#subagents.has(callId) ? callId : undefined;
  }

  #envelope({ timestamp, isSidechain, agentId, agentName }: JsonObject): EventEnvelope {
    const parentCallId = isSidechain === true ? callIdOf(agentId, agentName) : undefined;
    return {
      ...momentIn(timestamp),
      ...(this.#turn >= 0 && { turn: this.#turn }),
      ...present({ parentCallId }),
    };
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
  const display = objectIn(resultDisplay) ?? {};
  const outcome = withText({
    callId: requiredText(response.id),
    output: output ?? error ?? (Object.keys(rest).length > 0 ? rest : undefined),
    status:
      status === 'error' || error !== undefined
        ? 'failed'
        : status === 'cancelled'
          ? 'rejected'
          : 'completed',
  });
  const { exitCode } = display;
  return typeof exitCode === 'number' ? { ...outcome, exitCode } : outcome;
}

/** The compressed history begins with the summary of the dropped messages. */
function compactionEvent(payload: JsonObject, envelope: EventEnvelope): StreamEvent {
  const [first] = objectsIn(payload.compressedHistory);
  const [part] = objectsIn(first?.parts);
  const summary = textIn(part?.text);
  return { type: 'compaction', ...present({ summary }), ...envelope };
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
