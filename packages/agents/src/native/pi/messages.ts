import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { costIn, momentIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { fileChanged, messageEvents, thinkingEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeSummary } from '../../kit/native-mapper.ts';
import { SessionRecord } from '../../kit/session-record.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';

type Call = { name: string; input: JsonValue };

/**
 * Maps the messages of a pi session, for both its stream and its session file. It remembers the calls that wait for
 * their results, and sums up the turn.
 */
export class PiSession {
  readonly record = new SessionRecord();
  readonly #workdir: string | undefined;
  readonly #calls = new Map<string, Call>();
  /** Ids of finished calls since the last answer, because the stream reports each result twice. */
  readonly #finished = new Set<string>();
  #provider: string | undefined;
  #api: string | undefined;
  #model: string | undefined;
  #retries = 0;
  #compactions = 0;
  #skills = 0;
  /** Set while the last message is a final answer of the model. */
  lastStop: 'completed' | 'failed' | undefined;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
  }

  start({ id, cwd = this.#workdir, timestamp }: JsonObject): StreamEvent[] {
    const started = this.record.started('pi', requiredText(id), present({ workingDir: cwd }));
    return [{ ...started, ...momentIn(timestamp) }];
  }

  beginTurn(): void {
    this.record.beginTurn();
    this.#retries = 0;
    this.#compactions = 0;
    this.lastStop = undefined;
  }

  retry(): void {
    this.#retries += 1;
    this.lastStop = undefined;
  }

  /** Maps a whole message; `undefined` for a role without a mapping (system prompts, messages of extensions). */
  message(message: JsonObject): StreamEvent[] | undefined {
    switch (message.role) {
      case 'user':
        this.lastStop = undefined;
        return contentOf(message).flatMap((part) => this.#promptEvents(part));
      case 'assistant':
        return this.#assistantEvents(message);
      case 'toolResult':
        this.lastStop = undefined;
        return this.result(message.toolCallId, message.toolName, message, message.isError === true);
      default:
        return undefined;
    }
  }

  /** A prompt with `/skill:name` contains the skill. */
  #promptEvents(part: JsonObject): StreamEvent[] {
    if (part.type !== 'text') return [{ type: 'raw', native: part }];
    const text = requiredText(part.text);
    const message: StreamEvent = { type: 'message', role: 'user', text };
    const skill = /^<skill name="([^"]+)"/.exec(text)?.[1];
    if (skill === undefined) return [message];
    this.#skills += 1;
    return [message, ...skillEvents(`skill-${this.#skills}`, skill, 'completed')];
  }

  #assistantEvents(message: JsonObject): StreamEvent[] {
    this.#finished.clear();
    const events = contentOf(message).flatMap((part) => this.#partEvents(part));
    this.#provider = textIn(message.provider) ?? this.#provider;
    this.#api = textIn(message.api) ?? this.#api;
    this.#model = textIn(message.model) ?? this.#model;
    return [...events, ...this.#usageEvents(message.usage), ...this.#stop(message)];
  }

  #partEvents(part: JsonObject): StreamEvent[] {
    switch (part.type) {
      case 'text':
        return messageEvents('assistant', requiredText(part.text));
      case 'thinking':
        return thinkingEvents(requiredText(part.thinking));
      case 'toolCall':
        return this.called(part.id, part.name, part.arguments);
      default:
        return [{ type: 'raw', native: part }];
    }
  }

  #stop({ stopReason, errorMessage }: JsonObject): StreamEvent[] {
    if (stopReason === 'stop') {
      this.lastStop = 'completed';
      this.record.failure = undefined;
      return [];
    }
    this.lastStop = undefined;
    if (stopReason !== 'error' && stopReason !== 'aborted' && stopReason !== 'length') return [];
    this.lastStop = 'failed';
    const message = textIn(errorMessage) ?? `The model stopped: ${stopReason}.`;
    this.record.failure = message;
    return [{ type: 'error', message }];
  }

  /** Reports a call once. The message announces it and its execution repeats it. */
  called(
    id: JsonValue | undefined,
    tool: JsonValue | undefined,
    input: JsonValue | undefined,
  ): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#calls.has(callId)) return [];
    const call = callOf(requiredText(tool), input ?? {});
    this.#calls.set(callId, call);
    return [{ type: 'action.called', callId, ...call }];
  }

  /** Reports a result once. `result` has `content` and, for some tools, `details`. */
  result(
    id: JsonValue | undefined,
    tool: JsonValue | undefined,
    result: JsonObject,
    isError: boolean,
  ): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#finished.has(callId)) return [];
    const path = objectIn(this.#calls.get(callId)?.input)?.path;
    this.#calls.delete(callId);
    this.#finished.add(callId);
    const output = outputOf(result, tool === 'bash' ? bashExitCode(result, isError) : undefined);
    const status = isError ? 'failed' : 'completed';
    const returned: StreamEvent = { type: 'action.result', callId, status, output };
    const isChange = !isError && (tool === 'write' || tool === 'edit') && typeof path === 'string';
    // `write` does not report whether the file existed, so the file counts as modified.
    return isChange ? [returned, fileChanged(path, this.#workdir, 'modified')] : [returned];
  }

  /** The usage of one model call; no event if it used nothing. */
  #usageEvents(native: JsonValue | undefined): StreamEvent[] {
    const counts = objectIn(native);
    if (!counts) return [];
    const usage: Usage = {
      inputTokens: tokensIn(counts.input),
      outputTokens: tokensIn(counts.output),
      cacheReadTokens: tokensIn(counts.cacheRead),
      cacheWriteTokens: tokensIn(counts.cacheWrite),
      ...(counts.reasoning !== undefined && { reasoningTokens: tokensIn(counts.reasoning) }),
    };
    if (Object.values(usage).every((tokens) => tokens === 0)) return [];
    return this.record.used(usage, { model: this.#model, costUsd: costIn(objectIn(counts.cost)?.total) });
  }

  /** `compaction` is the result of the stream's event or the entry of the file. Its summary has its own usage. */
  compacted({ summary, usage }: JsonObject): StreamEvent[] {
    this.#compactions += 1;
    return [{ type: 'compaction', ...present({ summary: textIn(summary) }) }, ...this.#usageEvents(usage)];
  }

  summary(): NativeSummary {
    const metadata = {
      ...present({ provider: this.#provider, api: this.#api }),
      retries: this.#retries,
      compactions: this.#compactions,
    };
    return { ...this.record.summary(), metadata: { pi: metadata } };
  }
}

function callOf(tool: string, input: JsonValue): Call {
  const path = objectIn(input)?.path;
  const skill = tool === 'read' && typeof path === 'string' ? skillIn(path) : undefined;
  if (skill === undefined) return { name: tool, input };
  return { name: 'load_skill', input: { ...objectIn(input), skill } };
}

/** User messages may be plain text. */
function contentOf({ content }: JsonObject): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);
}

/** Content with only text becomes text; other content stays as it is. */
function outputOf({ content, details }: JsonObject, exitCode: number | undefined): JsonValue {
  const parts = objectsIn(content);
  const isText = parts.every((part) => part.type === 'text' && typeof part.text === 'string');
  const output = isText ? parts.map((part) => part.text).join('') : (content ?? null);
  const isPlain = details === undefined || Object.keys(objectIn(details) ?? { details }).length === 0;
  if (isPlain && exitCode === undefined) return output;
  return { output, ...present({ exitCode }), ...(!isPlain && { details: details ?? null }) };
}

/** The exit code is only at the end of the output, and only if it is not 0. */
function bashExitCode({ content }: JsonObject, isError: boolean): number | undefined {
  if (!isError) return 0;
  const text = textIn(objectsIn(content).at(-1)?.text)?.slice(-64) ?? '';
  const code = /Command exited with code (\d{1,3})\s*$/.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}
