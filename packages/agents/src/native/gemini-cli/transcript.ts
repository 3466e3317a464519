import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { messageEvents, thinkingEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import { tokenUsage } from './token-usage.ts';
import { callEvents, type GeminiCall, type GeminiResult, resultEvents } from './tool-call.ts';

/** The parts of a message that are already events. The message may come again with more parts. */
type Reported = { id: string; thoughts: number; hasText: boolean; hasTokens: boolean };

/** Context that Gemini CLI adds before the prompt, as a user message. */
const CONTEXT = /^\s*<(?:session|hook)_context>/;

/**
 * Maps a session file of Gemini CLI 0.61. It has messages in order, a message again when more of it is known (its tool
 * calls with their results), and patches of the whole session. The summary covers the last turn. The file does not
 * report how a turn ended, or the usage of compactions and sub-agents. A sub-agent's own file does not name the call
 * that started it, so its events have its id as `parentCallId`; `subagents` in the summary of the session's file maps
 * that id to the call.
 */
export class GeminiTranscript implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #record = new SessionRecord();
  /** Ids of all messages (`#known`), and of the messages that the model still sees (`#live`). */
  readonly #known = new Set<string>();
  #live = new Set<string>();
  #last: Reported | undefined;
  readonly #called = new Set<string>();
  readonly #done = new Set<string>();
  #isSubagent = false;

  constructor(place: MapperPlace = {}) {
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
    return this.#record.summary();
  }

  #start({ kind, sessionId, startTime }: JsonObject): StreamEvent[] {
    this.#live = new Set();
    this.#isSubagent = kind === 'subagent';
    // A resumed session writes its header again.
    if (this.#record.sessionId === sessionId) return [];
    const facts = present({ workingDir: this.#place.workdir });
    const started = this.#record.started('gemini-cli', requiredText(sessionId), facts);
    return this.#isSubagent ? [] : [{ ...started, ...momentIn(startTime) }];
  }

  #patch(patch: JsonObject): StreamEvent[] | undefined {
    const { lastUpdated: _lastUpdated, sessionId: _sessionId, messages, ...others } = patch;
    if (Object.keys(others).length > 0) return undefined; // a summary, a scratchpad
    return messages === undefined ? [] : this.#replaceMessages(objectsIn(messages));
  }

  /** Sets all messages that the model sees from now on. It is a compaction if a new text replaces messages. */
  #replaceMessages(messages: JsonObject[]): StreamEvent[] {
    const liveIds = new Set(messages.map((message) => requiredText(message.id)));
    const dropped = [...this.#live].filter((id) => !liveIds.has(id)).length;
    const added = messages.filter((message) => !this.#known.has(requiredText(message.id)));
    const summary = dropped > 0 ? added.find(isPrompt) : undefined;
    if (summary) {
      for (const id of liveIds) this.#known.add(id);
      this.#live = liveIds;
      const text = textOf(summary.content);
      return [{ type: 'compaction', summary: text, droppedMessages: dropped, ...this.#envelope(summary) }];
    }
    const events = added.flatMap(
      (message): StreamEvent[] => this.#message(message) ?? [{ type: 'raw', native: message }],
    );
    this.#live = liveIds;
    return events;
  }

  #message(message: JsonObject): StreamEvent[] | undefined {
    return enveloped(this.#messageEvents(message), this.#envelope(message));
  }

  #messageEvents(message: JsonObject): StreamEvent[] | undefined {
    const id = requiredText(message.id);
    if (message.type === 'user') {
      if (this.#known.has(id)) return [];
      this.#see(id);
      return this.#userEvents(message);
    }
    if (message.type === 'gemini') return this.#answerEvents(id, message);
    if (message.type === 'error' && typeof message.content === 'string') {
      this.#see(id);
      return [{ type: 'error', message: message.content }];
    }
    return undefined;
  }

  #see(id: string): void {
    this.#known.add(id);
    this.#live.add(id);
  }

  #envelope(item: JsonObject): EventEnvelope {
    const { sessionId } = this.#record;
    // A sub-agent counts its own turns, not the session's.
    return this.#isSubagent
      ? { ...momentIn(item.timestamp), ...present({ parentCallId: sessionId }) }
      : this.#record.envelope(item);
  }

  #userEvents(message: JsonObject): StreamEvent[] {
    if (CONTEXT.test(textOf(message.content))) return [{ type: 'raw', native: message }];
    if (isPrompt(message)) this.#record.beginTurn();
    return partsOf(message.content).flatMap((part): StreamEvent[] => {
      const response = objectIn(part.functionResponse);
      if (response) return this.#lateResult(response);
      return typeof part.text === 'string'
        ? messageEvents('user', part.text)
        : [{ type: 'raw', native: part }];
    });
  }

  /** A result that the file does not also have with its call, because the process ended too early. */
  #lateResult({ id, name, response }: JsonObject): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#done.has(callId)) return [];
    this.#done.add(callId);
    const returned = objectIn(response);
    const status = returned?.error === undefined ? 'completed' : 'failed';
    const output = returned?.output ?? returned?.error ?? response;
    const call = { callId, tool: textIn(name) ?? '', input: {} };
    return resultEvents(call, { status, output }, this.#place.workdir);
  }

  #answerEvents(id: string, message: JsonObject): StreamEvent[] {
    if (!this.#known.has(id)) {
      this.#see(id);
      this.#last = { id, thoughts: 0, hasText: false, hasTokens: false };
    }
    const parts = this.#last?.id === id ? this.#report(this.#last, message) : [];
    return [...parts, ...objectsIn(message.toolCalls).flatMap((call) => this.#callEvents(call))];
  }

  #report(last: Reported, message: JsonObject): StreamEvent[] {
    const thoughts = objectsIn(message.thoughts);
    const events = thoughts.slice(last.thoughts).flatMap(({ subject, description }) => {
      const texts = [subject, description].filter((part) => typeof part === 'string' && part !== '');
      return thinkingEvents(texts.join('\n'));
    });
    last.thoughts = Math.max(last.thoughts, thoughts.length);
    const text = textOf(message.content);
    if (!last.hasText && text !== '') {
      last.hasText = true;
      events.push({ type: 'message', role: 'assistant', text });
    }
    const tokens = objectIn(message.tokens);
    if (!last.hasTokens && tokens) {
      last.hasTokens = true;
      events.push(...this.#record.used(tokenUsage(tokens), { model: textIn(message.model) }));
    }
    return events;
  }

  #callEvents(native: JsonObject): StreamEvent[] {
    const callId = requiredText(native.id);
    const call: GeminiCall = { callId, tool: requiredText(native.name), input: native.args ?? {} };
    if (typeof native.agentId === 'string') this.#record.subagents[native.agentId] = callId;
    const called = this.#called.has(callId) ? [] : callEvents(call, this.#place);
    this.#called.add(callId);
    const result = resultOf(native);
    if (!result || this.#done.has(callId)) return called;
    this.#done.add(callId);
    const returned = resultEvents(call, result, this.#place.workdir);
    return [...called, ...returned.map((event) => ({ ...event, ...momentIn(native.timestamp) }))];
  }
}

const STATUSES: Readonly<Record<string, GeminiResult['status']>> = {
  success: 'completed',
  error: 'failed',
  cancelled: 'rejected',
};
/** The session file has only the message of a refusal; the stream has its type. */
const REFUSAL = 'Tool execution denied by policy.';

/** The result that the model got; `undefined` while the call is running. */
function resultOf(native: JsonObject): GeminiResult | undefined {
  const status = STATUSES[textIn(native.status) ?? ''];
  if (status === undefined) return undefined;
  const response = objectIn(objectIn(objectsIn(native.result)[0]?.functionResponse)?.response);
  const content = response?.output ?? response?.error ?? native.resultDisplay;
  const display = objectIn(native.resultDisplay);
  const isNew = display?.isNewFile;
  const output = native.name === 'run_shell_command' ? shellOutput(native.resultDisplay, content) : content;
  return {
    status: status === 'failed' && textOf(content).startsWith(REFUSAL) ? 'rejected' : status,
    output,
    ...(typeof isNew === 'boolean' && { change: isNew ? 'added' : 'modified' }),
    ...(typeof display?.terminateReason === 'string' && { isGivenUp: display.terminateReason !== 'GOAL' }),
  };
}

/** The command's output, with the exit code if it is not 0. The code is at the end of the model's text. */
function shellOutput(display: JsonValue | undefined, content: JsonValue | undefined): JsonValue | undefined {
  const code = /^Exit Code: (\d{1,3})$/m.exec(textOf(content).slice(-1_024))?.[1];
  const output = textIn(display) ?? content;
  return code === undefined || output === undefined ? output : { output, exitCode: Number(code) };
}

function isPrompt({ type, content }: JsonObject): boolean {
  const text = textOf(content);
  return type === 'user' && text !== '' && !CONTEXT.test(text);
}

const partsOf = (content: JsonValue | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ text: content }] : objectsIn(content);

const textOf = (content: JsonValue | undefined): string =>
  partsOf(content)
    .filter((part) => typeof part.text === 'string' && part.thought !== true)
    .map((part) => part.text)
    .join('');
