import { type JsonObject, type JsonValue, jsonOrText, type StreamEvent, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { countIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { fileChanged, messageEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';

type Call = { callId: string; tool: string; input: JsonValue };

/** Events of the loop around the model runs that only announce something. */
const PASSING: ReadonlySet<string> = new Set(['loop.step.start', 'handoff']);

/**
 * Maps the tape of bub, an append-only log of one session: `{ id, kind, payload, meta, date }`. This mapper follows
 * bub's source (github.com/bubbuild/bub, 0.4: `tape.py`, `builtin/store.py`, `builtin/agent.py`,
 * `builtin/model_runner.py`), not a recorded run. A model run writes its entries together when it is over: prompt,
 * calls, results or text, and `run` with the usage. The tape has no thinking and no session id.
 */
export class BubTape implements NativeMapper {
  readonly #record = new SessionRecord();
  readonly #workdir: string | undefined;
  /** Calls of the last `tool_call` entry. Their results follow in the same order, without ids. */
  #pending: Call[] = [];
  readonly #callIds = new Set<string>();
  #lastError: string | undefined;

  constructor({ workdir }: MapperPlace = {}) {
    this.#workdir = workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(item.payload);
    if (!payload || typeof item.kind !== 'string') return undefined;
    const events = this.#events(item.kind, payload, item.id);
    // Older tapes have seconds since 1970 instead of a date.
    const seconds = typeof item.timestamp === 'number' ? item.timestamp * 1_000 : null;
    return enveloped(events, this.#record.envelope({ timestamp: item.date ?? seconds }));
  }

  #events(kind: string, payload: JsonObject, id: JsonValue | undefined): StreamEvent[] | undefined {
    switch (kind) {
      case 'message':
        return messagesIn(payload);
      case 'tool_call':
        return this.#calls(payload, id);
      case 'tool_result':
        return this.#results(payload);
      case 'error':
        return this.#error(requiredText(payload.message));
      case 'anchor':
        return [this.#anchor(payload)];
      case 'event':
        return this.#event(requiredText(payload.name), objectIn(payload.data) ?? {});
      // The system prompt.
      case 'system':
        return [];
      default:
        return undefined;
    }
  }

  summary(): NativeSummary {
    return this.#record.summary();
  }

  #calls(payload: JsonObject, id: JsonValue | undefined): StreamEvent[] {
    this.#pending = objectsIn(payload.calls).map((call, index) => this.#callOf(call, id, index));
    const text = messageEvents('assistant', textIn(payload.content) ?? '');
    return [...text, ...this.#pending.flatMap(calledEvents)];
  }

  /** If the provider sends no ids, bub numbers the calls from the start in every run. */
  #callOf(native: JsonObject, id: JsonValue | undefined, index: number): Call {
    const { name, arguments: input } = objectIn(native.function) ?? {};
    const nativeId = textIn(native.id);
    const isUnique = nativeId !== undefined && !this.#callIds.has(nativeId);
    const callId = isUnique ? nativeId : `${countIn(id)}:${index}`;
    this.#callIds.add(callId);
    return { callId, tool: requiredText(name), input: argumentsOf(input ?? {}) };
  }

  #results(payload: JsonObject): StreamEvent[] | undefined {
    if (!Array.isArray(payload.results)) return undefined;
    const pending = this.#pending;
    this.#pending = [];
    return payload.results.flatMap((result, index): StreamEvent[] => {
      const call = pending[index];
      return call ? resultEvents(call, result, this.#workdir) : [{ type: 'raw', native: result }];
    });
  }

  #error(message: string): StreamEvent[] {
    this.#lastError = message;
    this.#record.failure = message;
    return [{ type: 'error', message }];
  }

  /** The model sees the entries after the last anchor, and the state of that anchor. */
  #anchor({ name, state }: JsonObject): StreamEvent {
    if (name === 'session/start') {
      return { type: 'session.started', runtime: 'bub', ...present({ workingDir: this.#workdir }) };
    }
    return { type: 'compaction', ...present({ summary: textIn(objectIn(state)?.summary) }) };
  }

  #event(name: string, data: JsonObject): StreamEvent[] | undefined {
    if (PASSING.has(name)) return [];
    switch (name) {
      case 'loop.start':
        this.#record.beginTurn();
        this.#lastError = undefined;
        return [];
      case 'run': {
        const usage = usageOf(objectIn(data.usage));
        return usage ? this.#record.used(usage, { model: textIn(data.model) }) : [];
      }
      case 'loop.step':
        return this.#step(data);
      default:
        return undefined;
    }
  }

  /** `continue` is not an end. If the tape stops there, the turn had too many steps or was stopped. */
  #step({ status, error }: JsonObject): StreamEvent[] | undefined {
    switch (status) {
      case 'ok':
        this.#record.ending = 'completed';
        this.#record.failure = undefined;
        return [];
      case 'continue':
        this.#record.ending = undefined;
        return [];
      case 'auto_handoff':
      case 'error': {
        if (status === 'error') this.#record.ending = 'failed';
        const message = textIn(error) ?? 'The step failed.';
        // A separate entry may have reported the error, without its kind in brackets.
        const isKnown = this.#lastError !== undefined && message.endsWith(this.#lastError);
        return isKnown ? [] : this.#error(message);
      }
      default:
        return undefined;
    }
  }
}

function messagesIn({ role, content }: JsonObject): StreamEvent[] | undefined {
  if (role !== 'user' && role !== 'assistant') return undefined;
  if (typeof content === 'string') return messageEvents(role, content);
  return objectsIn(content).map((part): StreamEvent => {
    const { text } = part;
    return typeof text === 'string' ? { type: 'message', role, text } : { type: 'raw', native: part };
  });
}

/** Models send arguments as text, which may not be valid JSON. */
const argumentsOf = (input: JsonValue): JsonValue => (typeof input === 'string' ? jsonOrText(input) : input);

function calledEvents({ callId, tool, input }: Call): StreamEvent[] {
  const skill = tool === 'skill' ? textIn(objectIn(input)?.name) : undefined;
  const call = skill === undefined ? { name: tool, input } : { name: 'load_skill', input: { skill } };
  const called: StreamEvent = { type: 'action.called', callId, ...call };
  return tool === 'subagent' ? [called, { type: 'subagent.called', callId, name: tool }] : [called];
}

function resultEvents(
  { callId, tool, input }: Call,
  output: JsonValue,
  workdir: string | undefined,
): StreamEvent[] {
  const error = objectIn(output);
  const isFailed = typeof error?.kind === 'string' && typeof error.message === 'string';
  const fields = { status: isFailed ? 'failed' : 'completed', callId, output } as const;
  const result: StreamEvent = { type: 'action.result', ...fields };
  if (tool === 'subagent') return [{ type: 'subagent.completed', ...fields }, result];
  const path = textIn(objectIn(input)?.path);
  // Models see the dot in a tool's name as an underscore. The tape does not say whether a written file is new.
  const isChange = /^fs[._](?:write|edit)$/.test(tool) && path !== undefined && !isFailed;
  return isChange ? [result, fileChanged(path, workdir, 'modified')] : [result];
}

/** Reads the provider's usage, of Chat Completions or of Responses. Both include cached tokens in the prompt tokens. */
function usageOf(native: JsonObject | undefined): Usage | undefined {
  const input = native?.prompt_tokens ?? native?.input_tokens;
  const output = native?.completion_tokens ?? native?.output_tokens;
  if (!native || typeof input !== 'number' || typeof output !== 'number') return undefined;
  const inputDetails = objectIn(native.prompt_tokens_details ?? native.input_tokens_details);
  const outputDetails = objectIn(native.completion_tokens_details ?? native.output_tokens_details);
  const cached = Math.min(tokensIn(input), tokensIn(inputDetails?.cached_tokens));
  return {
    inputTokens: tokensIn(input) - cached,
    outputTokens: tokensIn(output),
    cacheReadTokens: cached,
    ...(outputDetails && { reasoningTokens: tokensIn(outputDetails.reasoning_tokens) }),
  };
}
