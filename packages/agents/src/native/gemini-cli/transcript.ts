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
import { callEvents, type GeminiCall, type GeminiResult, resultEvents } from './tool-call.ts';

/**
 * Below `GEMINI_CLI_HOME`: the file of a session, and one of each sub-agent in a folder of the session's name. A
 * resumed session goes on in its first file; the new one that it makes besides holds no prompt.
 */
export const geminiCliTranscriptPattern = '.gemini/tmp/*/chats/{session-*,*/*}.jsonl';

/**
 * A session file of Gemini CLI 0.61: messages in the order in which they came, each again when more of it is known
 * (its tool calls with their results), between patches of the whole. The summary is that of the last turn; the file
 * does not tell how a turn ended, nor what a compaction or a sub-agent cost. Which call began a sub-agent its own file
 * does not say: its events have its id as `parentCallId`, which `subagents` in the summary of the session's file leads
 * to.
 */
export function createGeminiCliTranscriptMapper(place: MapperPlace = {}): NativeMapper {
  return new GeminiTranscript(place);
}

/** What of a message was told: it may come again with more. */
type Told = { id: string; thoughts: number; hasText: boolean; hasTokens: boolean };

/** Context that the CLI puts before the prompt in the user's name. */
const CONTEXT = /^\s*<(?:session|hook)_context>/;

class GeminiTranscript implements NativeMapper {
  readonly #place: MapperPlace;
  /** Ids of messages; of those that the model still sees. */
  readonly #known = new Set<string>();
  #live = new Set<string>();
  #last: Told | undefined;
  readonly #called = new Set<string>();
  readonly #done = new Set<string>();
  #turn = -1;
  #usage: Usage | undefined;
  #sessionId: string | undefined;
  #isSubagent = false;
  /** By the ids of their sessions, the calls that began them. */
  readonly #subagents: Record<string, string> = {};

  constructor(place: MapperPlace) {
    this.#place = place;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (typeof item.$rewindTo === 'string') return undefined;
    const patch = objectIn(item.$set);
    if (patch) return this.#patch(patch);
    if (typeof item.id === 'string') return this.#message(item);
    if (typeof item.sessionId === 'string' && typeof item.projectHash === 'string') return this.#start(item);
    return undefined;
  }

  summary(): NativeSummary {
    return {
      ...present({ sessionId: this.#sessionId, usage: this.#usage }),
      ...(Object.keys(this.#subagents).length > 0 && { subagents: this.#subagents }),
    };
  }

  #start(item: JsonObject): StreamEvent[] {
    this.#live = new Set();
    this.#isSubagent = item.kind === 'subagent';
    // The file says again who it is when its session is resumed.
    if (this.#sessionId === item.sessionId) return [];
    this.#sessionId = requiredText(item.sessionId);
    if (this.#isSubagent) return [];
    return [
      {
        type: 'session.started',
        sessionId: this.#sessionId,
        runtime: 'gemini-cli',
        ...present({ workingDir: this.#place.workdir }),
        ...momentIn(item.startTime),
      },
    ];
  }

  #patch(patch: JsonObject): StreamEvent[] | undefined {
    const { lastUpdated: _lastUpdated, sessionId: _sessionId, messages, ...others } = patch;
    if (Object.keys(others).length > 0) return undefined; // a summary, a scratchpad
    return messages === undefined ? [] : this.#replaceMessages(objectsIn(messages));
  }

  /** All that the model sees from now on. Where a new text takes the place of messages, that is a compaction. */
  #replaceMessages(messages: JsonObject[]): StreamEvent[] {
    const kept = new Set(messages.map((message) => requiredText(message.id)));
    const dropped = [...this.#live].filter((id) => !kept.has(id)).length;
    const added = messages.filter((message) => !this.#known.has(requiredText(message.id)));
    const summary = dropped > 0 ? added.find(isPrompt) : undefined;
    if (summary) {
      for (const id of kept) this.#known.add(id);
      this.#live = kept;
      const text = textOf(summary.content);
      return [{ type: 'compaction', summary: text, droppedMessages: dropped, ...this.#envelope(summary) }];
    }
    const events = added.flatMap(
      (message): StreamEvent[] => this.#message(message) ?? [{ type: 'raw', native: message }],
    );
    this.#live = kept;
    return events;
  }

  #message(message: JsonObject): StreamEvent[] | undefined {
    const id = requiredText(message.id);
    if (message.type === 'user') {
      if (this.#known.has(id)) return [];
      this.#see(id);
      return this.#userEvents(message);
    }
    if (message.type === 'gemini') return this.#answerEvents(id, message);
    if (message.type === 'error' && typeof message.content === 'string') {
      this.#see(id);
      return [{ type: 'error', message: message.content, ...this.#envelope(message) }];
    }
    return undefined;
  }

  #see(id: string): void {
    this.#known.add(id);
    this.#live.add(id);
  }

  #envelope(item: JsonObject): EventEnvelope {
    // The turns of a sub-agent are not those of the session.
    const itself = this.#isSubagent && this.#sessionId !== undefined && { parentCallId: this.#sessionId };
    const turn = !itself && this.#turn >= 0 && { turn: this.#turn };
    return { ...momentIn(item.timestamp), ...turn, ...itself };
  }

  #userEvents(message: JsonObject): StreamEvent[] {
    if (CONTEXT.test(textOf(message.content))) {
      return [{ type: 'raw', native: message, ...this.#envelope(message) }];
    }
    if (isPrompt(message)) {
      this.#turn += 1;
      this.#usage = undefined;
    }
    const envelope = this.#envelope(message);
    return partsOf(message.content).flatMap((part): StreamEvent[] => {
      const response = objectIn(part.functionResponse);
      if (response) return this.#lateResult(response, envelope);
      if (typeof part.text !== 'string') return [{ type: 'raw', native: part, ...envelope }];
      return part.text === '' ? [] : [{ type: 'message', role: 'user', text: part.text, ...envelope }];
    });
  }

  /** Results stand with their calls as well, unless the process ended between the two. */
  #lateResult({ id, name, response }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#done.has(callId)) return [];
    this.#done.add(callId);
    const output = objectIn(response);
    const status = output?.error === undefined ? 'completed' : 'failed';
    const told = output?.output ?? output?.error ?? response;
    const call = { callId, tool: textIn(name) ?? '', input: {} };
    return resultEvents(call, { status, ...present({ output: told }) }, this.#place.workdir, envelope);
  }

  #answerEvents(id: string, message: JsonObject): StreamEvent[] {
    const envelope = this.#envelope(message);
    const isNew = !this.#known.has(id);
    if (isNew) {
      this.#see(id);
      this.#last = { id, thoughts: 0, hasText: false, hasTokens: false };
    }
    const told = this.#last?.id === id ? this.#tell(this.#last, message, envelope) : [];
    const calls = objectsIn(message.toolCalls).flatMap((call) => this.#callEvents(call, envelope));
    return [...told, ...calls];
  }

  #tell(last: Told, message: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const events: StreamEvent[] = [];
    const thoughts = objectsIn(message.thoughts);
    for (const thought of thoughts.slice(last.thoughts)) {
      const { subject, description } = thought;
      const text = [subject, description]
        .filter((part) => typeof part === 'string' && part !== '')
        .join('\n');
      if (text !== '') events.push({ type: 'thinking', text, ...envelope });
    }
    last.thoughts = Math.max(last.thoughts, thoughts.length);
    const text = textOf(message.content);
    if (!last.hasText && text !== '') {
      last.hasText = true;
      events.push({ type: 'message', role: 'assistant', text, ...envelope });
    }
    const tokens = objectIn(message.tokens);
    if (!last.hasTokens && tokens) {
      last.hasTokens = true;
      const model = textIn(message.model);
      const usage = usageOf(tokens);
      this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
      events.push({ type: 'usage', usage, ...present({ model }), ...envelope });
    }
    return events;
  }

  #callEvents(native: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const callId = requiredText(native.id);
    const call: GeminiCall = { callId, tool: requiredText(native.name), input: native.args ?? {} };
    if (typeof native.agentId === 'string') this.#subagents[native.agentId] = callId;
    const events: StreamEvent[] = [];
    if (!this.#called.has(callId)) {
      this.#called.add(callId);
      events.push(...callEvents(call, this.#place, envelope));
    }
    const result = resultOf(native);
    if (!result || this.#done.has(callId)) return events;
    this.#done.add(callId);
    return [
      ...events,
      ...resultEvents(call, result, this.#place.workdir, { ...envelope, ...momentIn(native.timestamp) }),
    ];
  }
}

const STATUSES: Readonly<Record<string, GeminiResult['status']>> = {
  success: 'completed',
  error: 'failed',
  cancelled: 'rejected',
};
/** The session file keeps the words of a refusal and not, as the stream, its type. */
const REFUSAL = 'Tool execution denied by policy.';

/** What the model was told; `undefined` while the call is under way. */
function resultOf(native: JsonObject): GeminiResult | undefined {
  const status = STATUSES[textIn(native.status) ?? ''];
  if (status === undefined) return undefined;
  const response = objectIn(objectIn(objectsIn(native.result)[0]?.functionResponse)?.response);
  const told = response?.output ?? response?.error ?? native.resultDisplay;
  const display = objectIn(native.resultDisplay);
  const isNew = display?.isNewFile;
  const output = native.name === 'run_shell_command' ? shellOutput(native.resultDisplay, told) : told;
  return {
    status: status === 'failed' && textOf(told).startsWith(REFUSAL) ? 'rejected' : status,
    ...present({ output }),
    ...(typeof isNew === 'boolean' && { change: isNew ? 'added' : 'modified' }),
    ...(typeof display?.terminateReason === 'string' && { isGivenUp: display.terminateReason !== 'GOAL' }),
  };
}

/** What the command printed. Its exit code is told where it is not 0, behind the output that the model gets. */
function shellOutput(display: JsonValue | undefined, told: JsonValue | undefined): JsonValue | undefined {
  const code = /^Exit Code: (\d{1,3})$/m.exec(textOf(told).slice(-1_024))?.[1];
  const output = textIn(display) ?? told;
  return code === undefined || output === undefined ? output : { output, exitCode: Number(code) };
}

/** `input` holds `cached`; `output` lacks `thoughts`; `tool` is what provider-side tools put into the prompt. */
function usageOf(tokens: JsonObject): Usage {
  const input = tokensIn(tokens.input);
  const cached = Math.min(input, tokensIn(tokens.cached));
  const thoughts = tokensIn(tokens.thoughts);
  return {
    inputTokens: input - cached + tokensIn(tokens.tool),
    outputTokens: tokensIn(tokens.output) + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
}

/** Text in the user's name, and neither results nor context. */
function isPrompt({ type, content }: JsonObject): boolean {
  const text = textOf(content);
  return type === 'user' && text !== '' && !CONTEXT.test(text);
}

const partsOf = (content: JsonValue | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ text: content }] : objectsIn(content);

/** The text of a message without what the model thought. */
const textOf = (content: JsonValue | undefined): string =>
  partsOf(content)
    .filter((part) => typeof part.text === 'string' && part.thought !== true)
    .map((part) => part.text)
    .join('');
