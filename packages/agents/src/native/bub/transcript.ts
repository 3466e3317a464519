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
 * Of the home of `BUB_HOME`, which is `.bub` by default: the MD5 of the workspace and of the session, 16 digits each.
 */
export const bubTranscriptPattern = '.bub/tapes/*__*.jsonl';

/**
 * The tape of bub, a log to which its one session is appended: `{ id, kind, payload, meta, date }`. Written after
 * bub's source (github.com/bubbuild/bub, 0.4: `tape.py`, `builtin/store.py`, `builtin/agent.py`,
 * `builtin/model_runner.py`) and not after a run of it. A run of the model writes its entries together, when it is
 * over: prompt, calls, results or text, and `run` with the usage. Thinking is not on the tape, and the session's name
 * is not, either.
 */
export function createBubTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new BubTape(place);
}

type Call = { callId: string; tool: string; input: JsonValue };

/** Events of the loop around the runs that say nothing of their own. */
const PASSING: ReadonlySet<string> = new Set(['loop.step.start', 'handoff']);

class BubTape implements NativeMapper {
  readonly #workdir: string | undefined;
  /** Of the last `tool_call` entry: the results follow in the same order, without ids. */
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
      // What the agent tells its model to be.
      case 'system':
        return [];
      default:
        return undefined;
    }
  }

  summary(): NativeSummary {
    return this.#summary;
  }

  /** Older tapes have seconds since 1970 in the place of the date. */
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
    const said = textIn(payload.content) ?? '';
    const text: StreamEvent[] =
      said === '' ? [] : [{ type: 'message', role: 'assistant', text: said, ...envelope }];
    return [...text, ...this.#pending.flatMap((call) => calledEvents(call, envelope))];
  }

  /** A provider that names no ids makes bub count them anew in every run. */
  #callOf(native: JsonObject, item: JsonObject, index: number): Call {
    const { name, arguments: input } = objectIn(native.function) ?? {};
    const told = textIn(native.id);
    const isOwn = told !== undefined && !this.#callIds.has(told);
    const callId = isOwn ? told : `${tokensIn(item.id)}:${index}`;
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

  /** The model sees what stands behind the last anchor, and the anchor's own state. */
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

  #run({ usage: told, model }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const usage = usageOf(objectIn(told));
    if (!usage) return [];
    this.#summary.usage = this.#summary.usage ? addUsage(this.#summary.usage, usage) : usage;
    return [{ type: 'usage', usage, ...(typeof model === 'string' && { model }), ...envelope }];
  }

  /** `continue` is no end: a tape that stops behind it belongs to a turn that had too many steps, or was stopped. */
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
        // An entry of its own may have told it, without its kind in brackets.
        const isKnown = this.#lastError !== undefined && message.endsWith(this.#lastError);
        return isKnown ? [] : this.#error(message, envelope);
      }
      default:
        return undefined;
    }
  }
}

/** Models send arguments as text, which may be no JSON. */
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

/** Results are text; an error in the place of one is an object with its kind and message. */
function resultEvents(
  { callId, tool, input }: Call,
  output: JsonValue,
  workdir: string | undefined,
  envelope: EventEnvelope,
): StreamEvent[] {
  const error = objectIn(output);
  const isFailed = typeof error?.kind === 'string' && typeof error.message === 'string';
  const told = { callId, output, ...envelope };
  const result: StreamEvent = { type: 'action.result', status: isFailed ? 'failed' : 'completed', ...told };
  if (tool === 'subagent') {
    return [{ type: 'subagent.completed', status: isFailed ? 'failed' : 'completed', ...told }, result];
  }
  const path = textIn(objectIn(input)?.path);
  // Models see the dot of a tool's name as an underscore. Whether a written file was there, nothing tells.
  const isChange = /^fs[._](?:write|edit)$/.test(tool) && path !== undefined && !isFailed;
  if (!isChange) return [result];
  return [
    result,
    { type: 'file.changed', path: workspacePath(path, workdir), change: 'modified', ...envelope },
  ];
}

/** As the provider told it: of Chat Completions or of Responses. Both hold the cached tokens in those of the prompt. */
function usageOf(told: JsonObject | undefined): Usage | undefined {
  const input = told?.prompt_tokens ?? told?.input_tokens;
  const output = told?.completion_tokens ?? told?.output_tokens;
  if (!told || typeof input !== 'number' || typeof output !== 'number') return undefined;
  const inputDetails = objectIn(told.prompt_tokens_details ?? told.input_tokens_details);
  const outputDetails = objectIn(told.completion_tokens_details ?? told.output_tokens_details);
  const cached = Math.min(tokensIn(input), tokensIn(inputDetails?.cached_tokens));
  return {
    inputTokens: tokensIn(input) - cached,
    outputTokens: tokensIn(output),
    cacheReadTokens: cached,
    ...(outputDetails && { reasoningTokens: tokensIn(outputDetails.reasoning_tokens) }),
  };
}
