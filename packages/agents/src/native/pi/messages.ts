import {
  addUsage,
  type EventEnvelope,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { costIn, momentIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeSummary } from '../../kit/native-mapper.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';
import { textTail } from '../../kit/text-tail.ts';
import { workspacePath } from '../../kit/workspace-path.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

type Call = { name: string; input: JsonValue };

/**
 * Maps the messages of a pi session, for both its stream and its session file. It remembers the calls that wait for
 * their results, and sums up the turn.
 */
export class PiSession {
  readonly #workdir: string | undefined;
  readonly #calls = new Map<string, Call>();
  /** Ids of finished calls since the last answer, because the stream reports each result twice. */
  readonly #finished = new Set<string>();
  #usage: Usage | undefined;
  #costUsd = 0;
  #provider: string | undefined;
  #api: string | undefined;
  #model: string | undefined;
  #retries = 0;
  #compactions = 0;
  #skills = 0;
  /** Set while the last message is a final answer of the model. */
  lastStop: 'completed' | 'failed' | undefined;
  failure: string | undefined;
  sessionId: string | undefined;

  constructor({ workdir }: MapperPlace) {
    this.#workdir = workdir;
  }

  /** Maps the header of the stream or of the file. */
  start(item: JsonObject): StreamEvent[] {
    this.sessionId = requiredText(item.id);
    const workingDir = textIn(item.cwd) ?? this.#workdir;
    return [
      {
        type: 'session.started',
        sessionId: this.sessionId,
        runtime: 'pi',
        ...present({ workingDir }),
        ...momentIn(item.timestamp),
      },
    ];
  }

  /** Resets the counts, because a prompt begins a new turn. */
  beginTurn(): void {
    this.#usage = undefined;
    this.#costUsd = 0;
    this.#retries = 0;
    this.#compactions = 0;
    this.failure = undefined;
    this.lastStop = undefined;
  }

  retry(): void {
    this.#retries += 1;
    this.lastStop = undefined;
  }

  /** Maps a whole message; `undefined` for a role without a mapping (system prompts, messages of extensions). */
  message(message: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    switch (message.role) {
      case 'user':
        this.lastStop = undefined;
        return this.#userEvents(message, envelope);
      case 'assistant':
        return this.#assistantEvents(message, envelope);
      case 'toolResult':
        this.lastStop = undefined;
        return this.result(message.toolCallId, message.toolName, message, message.isError === true, envelope);
      default:
        return undefined;
    }
  }

  #userEvents(message: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const events = contentOf(message).flatMap((part): StreamEvent[] => {
      if (part.type !== 'text') return [{ type: 'raw', native: part, ...envelope }];
      const text = requiredText(part.text);
      const skill = /^<skill name="([^"]+)"/.exec(text)?.[1];
      const loaded = skill === undefined ? [] : this.#skillOfPrompt(skill, envelope);
      return [{ type: 'message', role: 'user', text, ...envelope }, ...loaded];
    });
    return events;
  }

  /** A prompt with `/skill:name` contains the skill. */
  #skillOfPrompt(skill: string, envelope: EventEnvelope): StreamEvent[] {
    this.#skills += 1;
    return skillEvents(`skill-${this.#skills}`, skill, 'completed', envelope);
  }

  #assistantEvents(message: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    this.#finished.clear();
    const events = contentOf(message).flatMap((part) => this.#partEvents(part, envelope));
    this.#provider = textIn(message.provider) ?? this.#provider;
    this.#api = textIn(message.api) ?? this.#api;
    this.#model = textIn(message.model) ?? this.#model;
    const usage = this.usage(objectIn(message.usage), envelope);
    return [...events, ...usage, ...this.#stop(message, envelope)];
  }

  #partEvents(part: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    switch (part.type) {
      case 'text':
        return part.text === ''
          ? []
          : [{ type: 'message', role: 'assistant', text: requiredText(part.text), ...envelope }];
      case 'thinking':
        // Encrypted thinking has no text.
        return part.thinking === ''
          ? []
          : [{ type: 'thinking', text: requiredText(part.thinking), ...envelope }];
      case 'toolCall':
        return this.called(part.id, part.name, part.arguments, envelope);
      default:
        return [{ type: 'raw', native: part, ...envelope }];
    }
  }

  #stop(message: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const { stopReason } = message;
    if (stopReason === 'stop') {
      this.lastStop = 'completed';
      this.failure = undefined;
      return [];
    }
    this.lastStop = undefined;
    if (stopReason !== 'error' && stopReason !== 'aborted' && stopReason !== 'length') return [];
    this.lastStop = 'failed';
    const reason = textIn(message.errorMessage) ?? `The model stopped: ${stopReason}.`;
    this.failure = textTail(reason, TEXT_LIMIT_BYTES);
    return [{ type: 'error', message: reason, ...envelope }];
  }

  /** Reports a call once. The message announces it and its execution repeats it. */
  called(
    id: JsonValue | undefined,
    tool: JsonValue | undefined,
    input: JsonValue | undefined,
    envelope: EventEnvelope,
  ): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#calls.has(callId)) return [];
    const call = this.#callOf(requiredText(tool), input ?? {});
    this.#calls.set(callId, call);
    return [{ type: 'action.called', callId, ...call, ...envelope }];
  }

  #callOf(tool: string, input: JsonValue): Call {
    const path = objectIn(input)?.path;
    const skill = tool === 'read' && typeof path === 'string' ? skillIn(path) : undefined;
    if (skill === undefined) return { name: tool, input };
    return { name: 'load_skill', input: { ...objectIn(input), skill } };
  }

  /** Reports a result once. `result` has `content` and, for some tools, `details`. */
  result(
    id: JsonValue | undefined,
    tool: JsonValue | undefined,
    result: JsonObject,
    isError: boolean,
    envelope: EventEnvelope,
  ): StreamEvent[] {
    const callId = requiredText(id);
    if (this.#finished.has(callId)) return [];
    const input = this.#calls.get(callId)?.input ?? null;
    const output = outputOf(result, tool === 'bash' ? bashExitCode(result, isError) : undefined);
    const status = isError ? 'failed' : 'completed';
    const changed = isError ? [] : this.#changes(tool, input, envelope);
    this.#calls.delete(callId);
    this.#finished.add(callId);
    return [{ type: 'action.result', callId, status, output, ...envelope }, ...changed];
  }

  /** `write` does not report whether the file existed, so the file counts as modified. */
  #changes(tool: JsonValue | undefined, input: JsonValue, envelope: EventEnvelope): StreamEvent[] {
    const path = objectIn(input)?.path;
    if ((tool !== 'write' && tool !== 'edit') || typeof path !== 'string') return [];
    return [
      { type: 'file.changed', path: workspacePath(path, this.#workdir), change: 'modified', ...envelope },
    ];
  }

  /** The usage of one model call; no event if it used nothing. */
  usage(native: JsonObject | undefined, envelope: EventEnvelope): StreamEvent[] {
    if (!native) return [];
    const usage: Usage = {
      inputTokens: tokensIn(native.input),
      outputTokens: tokensIn(native.output),
      cacheReadTokens: tokensIn(native.cacheRead),
      cacheWriteTokens: tokensIn(native.cacheWrite),
      ...(native.reasoning !== undefined && { reasoningTokens: tokensIn(native.reasoning) }),
    };
    if (Object.values(usage).every((tokens) => tokens === 0)) return [];
    const costUsd = costIn(objectIn(native.cost)?.total);
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    this.#costUsd += costUsd ?? 0;
    return [
      {
        type: 'usage',
        usage,
        ...present({ model: this.#model, costUsd }),
        ...envelope,
      },
    ];
  }

  /** `compaction` is the result of the stream's event or the entry of the file. Its summary has its own usage. */
  compacted(compaction: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    this.#compactions += 1;
    const summary = textIn(compaction.summary);
    return [
      { type: 'compaction', ...present({ summary }), ...envelope },
      ...this.usage(objectIn(compaction.usage), envelope),
    ];
  }

  summary(ending: NativeSummary['ending']): NativeSummary {
    const metadata = {
      ...present({ provider: this.#provider, api: this.#api }),
      retries: this.#retries,
      compactions: this.#compactions,
    };
    return {
      ...present({ ending, failure: this.failure, sessionId: this.sessionId, usage: this.#usage }),
      ...(this.#costUsd > 0 && { costUsd: this.#costUsd }),
      metadata: { pi: metadata },
    };
  }
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
  return {
    output,
    ...present({ exitCode }),
    ...(!isPlain && { details: details ?? null }),
  };
}

/** The exit code is only at the end of the output, and only if it is not 0. */
function bashExitCode({ content }: JsonObject, isError: boolean): number | undefined {
  if (!isError) return 0;
  const text = textIn(objectsIn(content).at(-1)?.text)?.slice(-64) ?? '';
  const code = /Command exited with code (\d{1,3})\s*$/.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}
