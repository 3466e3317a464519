import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { planSteps } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { SessionRecord } from '../../kit/session-record.ts';
import { Chunks } from './chunks.ts';
import { AFTER_REPLAY, answeredMethod, resultOf } from './client.ts';
import { serverFailure } from './server-failures.ts';
import { inputOf, resultEvents, toolNameOf } from './tool-call.ts';

/**
 * Maps what an agent of the Agent Client Protocol prints: JSON-RPC messages, one a line. Pieces of a message are joined.
 * What an agent replays of earlier turns when it loads a session has no events.
 */
export class AcpStream implements NativeMapper {
  readonly #record = new SessionRecord();
  readonly #place: MapperPlace;
  readonly #chunks = new Chunks();
  readonly #calls = new Map<string, Call>();
  #agent: JsonObject = {};
  #stopReason: string | undefined;
  #isReplaying = false;

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.jsonrpc !== '2.0') return undefined;
    if (item.method === 'session/update') return this.#update(item);
    if (item.method === 'session/request_permission')
      return this.#asked(objectIn(objectIn(item.params)?.toolCall));
    if (typeof item.method === 'string') return [{ type: 'raw', native: item }];
    if (answeredMethod(item) === AFTER_REPLAY) return this.#replayed();
    if (item.error !== undefined) return this.#failed(item);
    return item.result === undefined ? undefined : this.#answered(item);
  }

  #answered(item: JsonObject): StreamEvent[] {
    const result = resultOf(item);
    const method = answeredMethod(item);
    if (method === 'initialize' || result.protocolVersion !== undefined) {
      this.#agent = objectIn(result.agentInfo) ?? {};
      this.#isReplaying = true;
      return [];
    }
    if (method === 'session/prompt' || typeof result.stopReason === 'string') return this.#ended(result);
    if (method === undefined || OPENS_SESSION.test(method)) {
      // The replay of a session may come after the answer, and ends with the answer to the next request.
      this.#isReplaying = method === 'session/load';
      return this.#started(result.sessionId);
    }
    return [];
  }

  #replayed(): StreamEvent[] {
    this.#isReplaying = false;
    return [];
  }

  #started(sessionId: JsonValue | undefined): StreamEvent[] {
    const record = this.#record;
    if (typeof sessionId !== 'string' || record.sessionId !== undefined) return [];
    const { version } = this.#agent;
    return [record.started('acp', sessionId, { ...present({ runtimeVersion: version }) })];
  }

  #update(item: JsonObject): StreamEvent[] | undefined {
    const { sessionId, update: given } = objectIn(item.params) ?? {};
    const update = objectIn(given);
    if (!update) return undefined;
    const kind = requiredText(update.sessionUpdate);
    if (this.#isReplaying && REPLAYED.has(kind)) return [];
    return [...this.#started(sessionId), ...this.#updated(kind, update, item)];
  }

  #updated(kind: string, update: JsonObject, item: JsonObject): StreamEvent[] {
    const failure = serverFailure(update);
    if (failure) return [...this.#chunks.close(), failure];
    switch (kind) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const text = textIn(objectIn(update.content)?.text);
        if (text === undefined) return [...this.#chunks.close(), { type: 'raw', native: item }];
        const type = kind === 'agent_message_chunk' ? 'message' : 'thinking';
        return [...this.#chunks.add(type, textIn(update.messageId), text), ...this.#callUsage(update)];
      }
      case 'tool_call':
      case 'tool_call_update':
        return [...this.#chunks.close(), ...this.#called(update)];
      // A list that says nothing of the turn, and is half a megabyte long for some agents. The log has it.
      case 'available_commands_update':
        return [];
      case 'plan':
        return [{ type: 'plan.updated', steps: planSteps(update.entries, 'content') }];
      default:
        return [{ type: 'raw', native: item }];
    }
  }

  /** A call begins for us once the agent runs it or asks for it: before, it has no input yet. */
  #called(update: JsonObject): StreamEvent[] {
    const callId = requiredText(update.toolCallId);
    const call = this.#merged(callId, update);
    if (call.isOver) return [];
    const isOver = update.status === 'completed' || update.status === 'failed';
    const isPending = (call.fields.status ?? 'pending') === 'pending';
    const events = isOver || !isPending ? this.#begin(callId, call) : [];
    if (!isOver) return events;
    call.isOver = true;
    const results = resultEvents(callId, call.fields, this.#place);
    // A call that is over is only kept to recognize it.
    call.fields = {};
    return [...events, ...results];
  }

  #asked(toolCall: JsonObject | undefined): StreamEvent[] | undefined {
    if (!toolCall) return undefined;
    const callId = requiredText(toolCall.toolCallId);
    const call = this.#merged(callId, toolCall, { isQuestion: true });
    return [...this.#chunks.close(), ...this.#begin(callId, call)];
  }

  #begin(callId: string, call: Call): StreamEvent[] {
    if (call.isBegun) return [];
    call.isBegun = true;
    const name = call.name ?? toolNameOf(call.fields, this.#place.mcpServers);
    return [{ type: 'action.called', callId, name, input: inputOf(call.fields) }];
  }

  /** What a question shows of a call does not replace what the call said. */
  #merged(callId: string, update: JsonObject, { isQuestion = false } = {}): Call {
    const call = this.#calls.get(callId) ?? { fields: {}, isBegun: false, isOver: false };
    this.#calls.set(callId, call);
    const said = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
    if (!call.isOver) {
      const [before, after] = isQuestion ? [said, call.fields] : [call.fields, said];
      const rawInput = { ...objectIn(before.rawInput), ...objectIn(after.rawInput) };
      const terminalOutput = `${textIn(call.fields.terminalOutput) ?? ''}${terminalPiece(said)}`.slice(
        0,
        TERMINAL_LIMIT,
      );
      call.fields = { ...before, ...after, rawInput, ...(terminalOutput !== '' && { terminalOutput }) };
    }
    const name = toolNameOf(call.fields, this.#place.mcpServers);
    // Only the first title of OpenCode is the name of its tool.
    if (name.startsWith('mcp__')) call.name ??= name;
    return call;
  }

  /** Qwen Code adds the usage of each model call to an empty piece of a message. */
  #callUsage({ _meta }: JsonObject): StreamEvent[] {
    const usage = objectIn(objectIn(_meta)?.usage);
    return usage ? this.#record.used(usageIn(usage)) : [];
  }

  #ended(result: JsonObject): StreamEvent[] {
    const reason = textIn(result.stopReason);
    this.#stopReason = reason;
    const record = this.#record;
    record.ending = reason === 'end_turn' ? 'completed' : 'failed';
    if (reason !== 'end_turn')
      record.failure = STOPS[reason ?? ''] ?? `The turn ended with the reason "${reason}".`;
    return [...this.#chunks.close(), ...this.#turnUsage(result)];
  }

  /** OpenCode 1.18 reports only its last model call there, so its usage is unknown. */
  #turnUsage(result: JsonObject): StreamEvent[] {
    const usage = objectIn(result.usage);
    if (usage && (this.#record.usage || this.#agent.name === 'OpenCode')) return [];
    if (usage) return this.#record.used(usageIn(usage), { calls: null });
    const models = objectsIn(objectIn(objectIn(result._meta)?.quota)?.model_usage);
    return models.flatMap(({ model, token_count }) => {
      const { input_tokens, output_tokens } = objectIn(token_count) ?? {};
      const counts = usageIn({ inputTokens: input_tokens ?? 0, outputTokens: output_tokens ?? 0 });
      return this.#record.used(counts, { calls: null, model: textIn(model) });
    });
  }

  #failed(item: JsonObject): StreamEvent[] {
    const { message, data } = objectIn(item.error) ?? {};
    const details = textIn(data) ?? textIn(objectIn(data)?.details) ?? textIn(objectIn(data)?.message);
    const said = [textIn(message) ?? 'The agent reported an error without a message.', details]
      .filter((text) => text !== undefined)
      .join(': ');
    const method = answeredMethod(item);
    if (method !== 'session/set_mode') this.#record.ending = 'failed';
    this.#record.failure = method === undefined ? said : `${method}: ${said}`;
    return [...this.#chunks.close(), { type: 'error', message: this.#record.failure ?? said }];
  }

  end(): StreamEvent[] {
    const open = [...this.#calls].filter(([, { isOver }]) => !isOver);
    return [...this.#chunks.close(), ...open.flatMap(([callId, call]) => this.#begin(callId, call))];
  }

  summary(): NativeSummary {
    const { name, version } = this.#agent;
    const about = {
      agent: name ?? null,
      version: version ?? null,
      stopReason: this.#stopReason ?? null,
    };
    return {
      ...this.#record.summary(),
      metadata: { acp: about },
    };
  }
}

/** The adapter of Codex sends the output of a command piece by piece. What comes after a megabyte is left out. */
const terminalPiece = ({ _meta }: JsonObject): string =>
  textIn(objectIn(objectIn(_meta)?.terminal_output_delta)?.data) ?? '';

const TERMINAL_LIMIT = 1024 * 1024;

type Call = { fields: JsonObject; name?: string; isBegun: boolean; isOver: boolean };

const OPENS_SESSION = /^session\/(?:new|load|resume)$/;

/** What an agent repeats of a session that it loads. */
const REPLAYED = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
]);

const STOPS: Readonly<Record<string, string>> = {
  max_tokens: 'The model reached its limit of output tokens.',
  max_turn_requests: 'The agent reached its limit of model calls per turn.',
  refusal: 'The agent refused to go on.',
  cancelled: 'The turn was cancelled.',
};

/** The protocol does not say whether the input counts cached tokens. The total shows it. Output leaves out thinking. */
function usageIn(counts: JsonObject): Usage {
  const input = tokensIn(counts.inputTokens);
  const output = tokensIn(counts.outputTokens);
  const total = tokensIn(counts.totalTokens);
  const cacheReadTokens = tokensIn(counts.cachedReadTokens);
  const cacheWriteTokens = tokensIn(counts.cachedWriteTokens);
  const reasoningTokens = tokensIn(counts.thoughtTokens);
  const cached = cacheReadTokens + cacheWriteTokens;
  const isInclusive = total !== 0 && total < input + output + cached;
  return {
    inputTokens: isInclusive ? Math.max(0, input - cached) : input,
    outputTokens: output,
    ...{ cacheReadTokens, cacheWriteTokens, reasoningTokens },
  };
}
