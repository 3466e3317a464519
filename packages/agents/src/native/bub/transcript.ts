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
import { workspacePath } from '../../kit/workspace-path.ts';

const FAILURE_LIMIT_BYTES = 4 * 1024;

/**
 * Below the agent's home, with the default `BUB_HOME`. The name has the MD5 of the workspace and of the session, 16
 * digits each.
 */
export const bubTranscriptPattern = '.bub/tapes/*__*.jsonl';

/**
 * Maps the tape of bub, an append-only log of one session: `{ id, kind, payload, meta, date }`. This mapper follows
 * bub's source (github.com/bubbuild/bub, 0.4: `tape.py`, `builtin/store.py`, `builtin/agent.py`,
 * `builtin/model_runner.py`), not a recorded run. A model run writes its entries together when it is over: prompt,
 * calls, results or text, and `run` with the usage. The tape has no thinking and no session id.
 */
export function createBubTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new BubTape(place);
}

type Call = { callId: string; tool: string; input: JsonValue };

/** Events of the loop around the model runs that only announce something. */
const PASSING: ReadonlySet<string> = new Set(['loop.step.start', 'handoff']);

class BubTape implements NativeMapper {
  readonly #workdir: string | undefined;
  /** Calls of the last `tool_call` entry. Their results follow in the same order, without ids. */
  #pending: Call[] = [];
  readonly #callIds = new Set<string>();
  #turn = -1;
  #lastError: string | undefined;
  #summary: NativeSummary = {};

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(item.payload);
    if (!payload || typeof item.kind !== 'string') return undefined;
    const envelope = this.#envelope(item);
    switch (item.kind) {
      case 'message':
        return this.#message(payload, envelope);
      case 'tool_call':
        return this.#calls(payload, item, envelope);
      case 'tool_result':
        return this.#results(payload, envelope);
      case 'error':
        return this.#error(requiredText(payload.message), envelope);
      case 'anchor':
        return this.#anchor(payload, envelope);
      case 'event':
        return this.#event(requiredText(payload.name), objectIn(payload.data) ?? {}, item);
      // The system prompt.
      case 'system':
        return [];
      default:
        return undefined;
    }
  }

  summary(): NativeSummary {
    return this.#summary;
  }

  /** Older tapes have seconds since 1970 instead of a date. */
  #envelope({ date, timestamp }: JsonObject): EventEnvelope {
    const moment = date ?? (typeof timestamp === 'number' ? timestamp * 1_000 : undefined);
    return { ...momentIn(moment), ...(this.#turn >= 0 && { turn: this.#turn }) };
  }

  #message({ role, content }: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    if (role !== 'user' && role !== 'assistant') return undefined;
    if (typeof content === 'string') {
      return content === '' ? [] : [{ type: 'message', role, text: content, ...envelope }];
    }
    return objectsIn(content).map((part): StreamEvent => {
      const { text } = part;
      return typeof text === 'string'
        ? { type: 'message', role, text, ...envelope }
        : { type: 'raw', native: part, ...envelope };
    });
  }

  #calls(payload: JsonObject, item: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    this.#pending = objectsIn(payload.calls).map((call, index) => this.#callOf(call, item, index));
    const content = textIn(payload.content) ?? '';
    const text: StreamEvent[] =
      content === '' ? [] : [{ type: 'message', role: 'assistant', text: content, ...envelope }];
    return [...text, ...this.#pending.flatMap((call) => calledEvents(call, envelope))];
  }

  /** If the provider sends no ids, bub numbers the calls from the start in every run. */
  #callOf(native: JsonObject, item: JsonObject, index: number): Call {
    const { name, arguments: input } = objectIn(native.function) ?? {};
    const nativeId = textIn(native.id);
    const isUnique = nativeId !== undefined && !this.#callIds.has(nativeId);
    const callId = isUnique ? nativeId : `${tokensIn(item.id)}:${index}`;
    this.#callIds.add(callId);
    return { callId, tool: requiredText(name), input: argumentsOf(input) };
  }

  #results(payload: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    if (!Array.isArray(payload.results)) return undefined;
    const pending = this.#pending;
    this.#pending = [];
    return payload.results.flatMap((result, index): StreamEvent[] => {
      const call = pending[index];
      return call
        ? resultEvents(call, result, this.#workdir, envelope)
        : [{ type: 'raw', native: result, ...envelope }];
    });
  }

  #error(message: string, envelope: EventEnvelope): StreamEvent[] {
    this.#lastError = message;
    this.#summary.failure = textTail(message, FAILURE_LIMIT_BYTES);
    return [{ type: 'error', message, ...envelope }];
  }

  /** The model sees the entries after the last anchor, and the state of that anchor. */
  #anchor({ name, state }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    if (name === 'session/start') {
      const workingDir = this.#workdir !== undefined && { workingDir: this.#workdir };
      return [{ type: 'session.started', runtime: 'bub', ...workingDir, ...envelope }];
    }
    const summary = textIn(objectIn(state)?.summary);
    return [{ type: 'compaction', ...present({ summary }), ...envelope }];
  }

  #event(name: string, data: JsonObject, item: JsonObject): StreamEvent[] | undefined {
    if (PASSING.has(name)) return [];
    switch (name) {
      case 'loop.start':
        this.#turn += 1;
        this.#lastError = undefined;
        this.#summary = {};
        return [];
      case 'run':
        return this.#run(data, this.#envelope(item));
      case 'loop.step':
        return this.#step(data, this.#envelope(item));
      default:
        return undefined;
    }
  }

  #run({ usage: nativeUsage, model }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const usage = usageOf(objectIn(nativeUsage));
    if (!usage) return [];
    this.#summary.usage = this.#summary.usage ? addUsage(this.#summary.usage, usage) : usage;
    return [{ type: 'usage', usage, ...(typeof model === 'string' && { model }), ...envelope }];
  }

  /** `continue` is not an end. If the tape stops there, the turn had too many steps or was stopped. */
  #step({ status, error }: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    switch (status) {
      case 'ok':
        this.#summary.ending = 'completed';
        delete this.#summary.failure;
        return [];
      case 'continue':
        delete this.#summary.ending;
        return [];
      case 'auto_handoff':
      case 'error': {
        if (status === 'error') this.#summary.ending = 'failed';
        const message = textIn(error) ?? 'The step failed.';
        // A separate entry may have reported the error, without its kind in brackets.
        const isKnown = this.#lastError !== undefined && message.endsWith(this.#lastError);
        return isKnown ? [] : this.#error(message, envelope);
      }
      default:
        return undefined;
    }
  }
}

/** Models send arguments as text, which may not be valid JSON. */
function argumentsOf(input: JsonValue | undefined): JsonValue {
  if (typeof input !== 'string') return input ?? {};
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}

function calledEvents({ callId, tool, input }: Call, envelope: EventEnvelope): StreamEvent[] {
  const skill = tool === 'skill' ? textIn(objectIn(input)?.name) : undefined;
  const call = skill === undefined ? { name: tool, input } : { name: 'load_skill', input: { skill } };
  const called: StreamEvent = { type: 'action.called', callId, ...call, ...envelope };
  return tool === 'subagent'
    ? [called, { type: 'subagent.called', callId, name: tool, ...envelope }]
    : [called];
}

/** A result is text. An error is an object with its kind and message. */
function resultEvents(
  { callId, tool, input }: Call,
  output: JsonValue,
  workdir: string | undefined,
  envelope: EventEnvelope,
): StreamEvent[] {
  const error = objectIn(output);
  const isFailed = typeof error?.kind === 'string' && typeof error.message === 'string';
  const fields = { callId, output, ...envelope };
  const result: StreamEvent = { type: 'action.result', status: isFailed ? 'failed' : 'completed', ...fields };
  if (tool === 'subagent') {
    return [{ type: 'subagent.completed', status: isFailed ? 'failed' : 'completed', ...fields }, result];
  }
  const path = textIn(objectIn(input)?.path);
  // Models see the dot in a tool's name as an underscore. The tape does not say whether a written file is new.
  const isChange = /^fs[._](?:write|edit)$/.test(tool) && path !== undefined && !isFailed;
  if (!isChange) return [result];
  return [
    result,
    { type: 'file.changed', path: workspacePath(path, workdir), change: 'modified', ...envelope },
  ];
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
