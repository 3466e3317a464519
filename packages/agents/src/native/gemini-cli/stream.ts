import { addUsage, type JsonObject, type StreamEvent, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { textTail } from '../../kit/text-tail.ts';
import { callEvents, type GeminiCall, resultEvents } from './tool-call.ts';

const FAILURE_LIMIT_BYTES = 4 * 1024;
/** A longer message becomes several messages. */
const TEXT_LIMIT_CHARACTERS = 1024 * 1024;

/**
 * Maps the output of `gemini --output-format stream-json`, 0.61. An answer comes in pieces, never whole. It becomes a
 * message when another item follows, so an answer that breaks off stays in the native bytes only. The pieces of a failed
 * request come before the pieces of its retry, as in the stream. The stream has the tokens of sub-agents, but not their
 * events.
 */
export function createGeminiCliMapper(place: MapperPlace = {}): NativeMapper {
  return new GeminiStream(place);
}

class GeminiStream implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #calls = new Map<string, GeminiCall>();
  #text: { pieces: string[]; length: number; at?: string } | undefined;
  /** The last error, until another item follows it. */
  #lastError: string | undefined;
  #summary: NativeSummary = {};

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type === 'message' && item.role === 'assistant') return this.#answer(item);
    const events = this.#itemEvents(item);
    return events && [...this.#takeText(), ...events];
  }

  summary(): NativeSummary {
    return this.#summary;
  }

  #answer(item: JsonObject): StreamEvent[] {
    const content = requiredText(item.content);
    this.#lastError = undefined;
    this.#text ??= { pieces: [], length: 0, ...momentIn(item.timestamp) };
    this.#text.pieces.push(content);
    this.#text.length += content.length;
    return item.delta === true && this.#text.length < TEXT_LIMIT_CHARACTERS ? [] : this.#takeText();
  }

  #takeText(): StreamEvent[] {
    if (!this.#text || this.#text.length === 0) return [];
    const { pieces, at } = this.#text;
    this.#text = undefined;
    return [{ type: 'message', role: 'assistant', text: pieces.join(''), ...present({ at }) }];
  }

  #itemEvents(item: JsonObject): StreamEvent[] | undefined {
    const envelope = momentIn(item.timestamp);
    switch (item.type) {
      case 'init':
        return this.#start(item, envelope);
      case 'message':
        if (item.role !== 'user') return undefined;
        return [{ type: 'message', role: 'user', text: requiredText(item.content), ...envelope }];
      case 'tool_use': {
        const callId = requiredText(item.tool_id);
        const call = { callId, tool: requiredText(item.tool_name), input: item.parameters ?? {} };
        this.#lastError = undefined;
        this.#calls.set(callId, call);
        return callEvents(call, this.#place, envelope);
      }
      case 'tool_result':
        return this.#toolResult(item, envelope);
      case 'error':
        this.#lastError = requiredText(item.message);
        return [{ type: 'error', message: this.#lastError, ...envelope }];
      case 'result':
        return this.#result(item, envelope);
      default:
        return undefined;
    }
  }

  #start(item: JsonObject, envelope: { at?: string }): StreamEvent[] {
    const sessionId = requiredText(item.session_id);
    const model = textIn(item.model);
    this.#summary.sessionId = sessionId;
    return [
      {
        type: 'session.started',
        sessionId,
        runtime: 'gemini-cli',
        ...present({ model, workingDir: this.#place.workdir }),
        ...envelope,
      },
    ];
  }

  #toolResult(item: JsonObject, envelope: { at?: string }): StreamEvent[] {
    const callId = requiredText(item.tool_id);
    const call = this.#calls.get(callId) ?? { callId, tool: '', input: {} };
    this.#calls.delete(callId);
    const { output } = item;
    const error = objectIn(item.error);
    const isFailed = item.status === 'error' || error !== undefined;
    const status = isFailed ? (error?.type === 'policy_violation' ? 'rejected' : 'failed') : 'completed';
    const content = error?.message ?? output;
    return resultEvents(call, { status, ...present({ output: content }) }, this.#place.workdir, envelope);
  }

  /** The status is `success` even if the agent stopped after an error, such as a loop or too many turns. */
  #result(item: JsonObject, envelope: { at?: string }): StreamEvent[] {
    const message = textIn(objectIn(item.error)?.message);
    const failure = message ?? this.#lastError;
    const isCompleted = item.status === 'success' && failure === undefined;
    this.#summary.ending = isCompleted ? 'completed' : 'failed';
    if (failure !== undefined) this.#summary.failure = textTail(failure, FAILURE_LIMIT_BYTES);
    const errors: StreamEvent[] = message === undefined ? [] : [{ type: 'error', message, ...envelope }];
    return [...errors, ...this.#stats(objectIn(item.stats), envelope)];
  }

  /** The totals of the process, which runs one turn. A resumed session starts from 0 again. */
  #stats(stats: JsonObject | undefined, envelope: { at?: string }): StreamEvent[] {
    if (!stats) return [];
    const { duration_ms = null, tool_calls = null } = stats;
    this.#summary.metadata = { 'gemini-cli': { duration_ms, tool_calls } };
    this.#summary.usage = usageOf(stats);
    const models = Object.entries(objectIn(stats.models) ?? {});
    return models.flatMap(([model, modelStats]): StreamEvent[] => {
      const usage = usageOf(objectIn(modelStats) ?? {});
      const isUsed = usage.inputTokens + usage.outputTokens + (usage.cacheReadTokens ?? 0) > 0;
      return isUsed ? [{ type: 'usage', model, usage, ...envelope }] : [];
    });
  }
}

/**
 * `input_tokens` includes `cached`. `output_tokens` leaves out thinking, which only the total includes, and which Gemini
 * counts as output. (Tokens that provider-side tools put into the prompt count as thinking here, because no field
 * reports them.)
 */
function usageOf(stats: JsonObject): Usage {
  const input = tokensIn(stats.input_tokens);
  const cached = Math.min(input, tokensIn(stats.cached));
  const output = tokensIn(stats.output_tokens);
  const thinking = Math.max(0, tokensIn(stats.total_tokens) - input - output);
  return addUsage(
    { inputTokens: input - cached, outputTokens: output, cacheReadTokens: cached },
    { inputTokens: 0, outputTokens: thinking, reasoningTokens: thinking },
  );
}
