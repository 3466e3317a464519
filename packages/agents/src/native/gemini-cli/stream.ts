import { addUsage, type JsonObject, type StreamEvent, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { countIn, momentIn, objectIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { messageEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import { tokenUsage } from './token-usage.ts';
import { callEvents, type GeminiCall, resultEvents } from './tool-call.ts';

/** A longer message becomes several messages. */
const TEXT_LIMIT_CHARACTERS = 1024 * 1024;

/**
 * Maps the output of `gemini --output-format stream-json`, 0.61. An answer comes in pieces, never whole. It becomes a
 * message when another item follows, or at the end. The pieces of a failed
 * request come before the pieces of its retry, as in the stream. The stream has the tokens of sub-agents, but not their
 * events.
 */
export class GeminiStream implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #record = new SessionRecord();
  readonly #calls = new Map<string, GeminiCall>();
  #text: { pieces: string[]; length: number; at?: string } | undefined;
  /** The last error, until another item follows it. */
  #lastError: string | undefined;
  #metadata: JsonObject | undefined;
  #tools: Record<string, number> | null | undefined;

  constructor(place: MapperPlace = {}) {
    this.#place = place;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type === 'message' && item.role === 'assistant') return this.#answer(item);
    if (item.type === undefined && typeof item.session_id === 'string') return this.#document(item);
    const events = enveloped(this.#itemEvents(item), momentIn(item.timestamp));
    return events && [...this.#takeText(), ...events];
  }

  end(): StreamEvent[] {
    return this.#takeText();
  }

  summary(): NativeSummary {
    const metadata = this.#metadata && { 'gemini-cli': this.#metadata };
    return { ...this.#record.summary(), ...present({ metadata, toolCallsByName: this.#tools }) };
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
    switch (item.type) {
      case 'init': {
        // `auto` is not a model: a router chooses one for each call.
        const facts = present({
          model: item.model === 'auto' ? undefined : item.model,
          workingDir: this.#place.workdir,
        });
        return [this.#record.started('gemini-cli', requiredText(item.session_id), facts)];
      }
      case 'message':
        if (item.role !== 'user') return undefined;
        return [{ type: 'message', role: 'user', text: requiredText(item.content) }];
      case 'tool_use': {
        const callId = requiredText(item.tool_id);
        const call = { callId, tool: requiredText(item.tool_name), input: item.parameters ?? {} };
        this.#lastError = undefined;
        this.#calls.set(callId, call);
        return callEvents(call, this.#place);
      }
      case 'tool_result':
        return this.#toolResult(item);
      case 'error':
        this.#lastError = requiredText(item.message);
        return [{ type: 'error', message: this.#lastError }];
      case 'result':
        return this.#result(item);
      default:
        return undefined;
    }
  }

  /** The one object of `--output-format json`: the answer and counts, without the tool calls themselves. */
  #document(item: JsonObject): StreamEvent[] {
    const { models, tools } = objectIn(item.stats) ?? {};
    const facts = present({ workingDir: this.#place.workdir });
    const error = textIn(objectIn(item.error)?.message);
    this.#record.ending = error === undefined ? 'completed' : 'failed';
    this.#record.failure = error;
    this.#tools = toolCounts(objectIn(tools));
    return [
      this.#record.started('gemini-cli', requiredText(item.session_id), facts),
      ...messageEvents('assistant', textIn(item.response) ?? ''),
      ...(error === undefined ? [] : [{ type: 'error' as const, message: error }]),
      ...Object.entries(objectIn(models) ?? {}).flatMap(([model, stats]) => {
        const { api, tokens } = objectIn(stats) ?? {};
        const { totalRequests, totalErrors } = objectIn(api) ?? {};
        const calls = countIn(totalRequests) - countIn(totalErrors);
        const usage = tokenUsage(objectIn(tokens) ?? {});
        return totalTokens(usage) === 0
          ? []
          : this.#record.used(usage, { model, calls: calls > 0 ? calls : null });
      }),
    ];
  }

  #toolResult(item: JsonObject): StreamEvent[] {
    const callId = requiredText(item.tool_id);
    const call = this.#calls.get(callId) ?? { callId, tool: '', input: {} };
    this.#calls.delete(callId);
    const error = objectIn(item.error);
    const isFailed = item.status === 'error' || error !== undefined;
    const status = isFailed ? (error?.type === 'policy_violation' ? 'rejected' : 'failed') : 'completed';
    return resultEvents(call, { status, output: error?.message ?? item.output }, this.#place.workdir);
  }

  /** The status is `success` even if the agent stopped after an error, such as a loop or too many turns. */
  #result(item: JsonObject): StreamEvent[] {
    const message = textIn(objectIn(item.error)?.message);
    const failure = message ?? this.#lastError;
    this.#record.ending = item.status === 'success' && failure === undefined ? 'completed' : 'failed';
    this.#record.failure = failure;
    const errors: StreamEvent[] = message === undefined ? [] : [{ type: 'error', message }];
    return [...errors, ...this.#stats(objectIn(item.stats))];
  }

  /** The totals of the process, which runs one turn. A resumed session starts from 0 again. */
  #stats(stats: JsonObject | undefined): StreamEvent[] {
    if (!stats) return [];
    const { duration_ms = null, tool_calls = null } = stats;
    this.#metadata = { duration_ms, tool_calls };
    this.#record.usage = usageOf(stats);
    return Object.entries(objectIn(stats.models) ?? {}).flatMap(([model, modelStats]): StreamEvent[] => {
      const usage = usageOf(objectIn(modelStats) ?? {});
      return totalTokens(usage) > 0 ? [{ type: 'usage', model, usage, calls: null }] : [];
    });
  }
}

/** `null` if the counts are missing. */
function toolCounts(tools: JsonObject | undefined): Record<string, number> | null {
  const names = objectIn(tools?.byName);
  if (!names) return null;
  return Object.fromEntries(
    Object.entries(names).map(([name, one]) => [name, countIn(objectIn(one)?.count)]),
  );
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
