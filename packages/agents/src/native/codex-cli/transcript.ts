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
import { skillEvents } from '../../kit/skill-file.ts';
import { textTail } from '../../kit/text-tail.ts';
import { toUsage } from './items.ts';
import { RolloutCalls } from './rollout-calls.ts';

const TEXT_LIMIT_BYTES = 4 * 1024;

/** Below the agent's home: one file per thread with all its turns. Each sub-agent has its own thread. */
export const codexTranscriptPattern = '.codex/sessions/*/*/*/rollout-*.jsonl';

/**
 * Maps a rollout of Codex 0.169. It has what `codex exec --json` leaves out: times, the model, the usage of each
 * request, refused commands, compaction, prompts and skills. The summary has usage and ending of the last turn.
 *
 * A sub-agent's rollout names its parent in the metadata, and the parent's summary maps each thread to its call. A
 * forked thread begins with a copy of its parent's lines; they give no events.
 */
export function createCodexTranscriptMapper({ workdir }: MapperPlace = {}): NativeMapper {
  return new CodexRollout(workdir);
}

class CodexRollout implements NativeMapper {
  readonly #calls: RolloutCalls;
  readonly #metadata: JsonObject = {};
  #threadId: string | undefined;
  /** In the lines that a fork copied, which end before the first line that names its own thread. */
  #isInherited = false;
  #turn = -1;
  #isForGoal = false;
  #model: string | undefined;
  #skills = 0;
  #usage: Usage | undefined;
  /** Usage of the whole thread, in versions without usage records. */
  #counted: Usage | undefined;
  #hasRecords = false;
  #ending: NativeSummary['ending'];
  #failure: string | undefined;

  constructor(workdir: string | undefined) {
    this.#calls = new RolloutCalls(workdir);
  }

  map(line: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(line.payload);
    if (!payload) return undefined;
    if (line.type === 'session_meta') return this.#meta(payload, line);
    if (this.#isInherited && payload.thread_id !== this.#threadId) return [];
    this.#isInherited = false;
    switch (line.type) {
      case 'turn_context':
        return this.#context(payload);
      case 'response_item':
        return this.#responseItem(payload, objectIn(line.metadata), this.#envelope(line));
      case 'event_msg':
        return this.#event(payload, line);
      case 'token_usage_record':
        this.#hasRecords = true;
        return this.#used(usageOf(payload.usage), this.#envelope(line));
      case 'compacted':
        return [{ type: 'compaction', ...summaryOf(payload), ...this.#envelope(line) }];
      default:
        return undefined;
    }
  }

  #envelope(line: JsonObject): EventEnvelope {
    return { ...momentIn(line.timestamp), ...(this.#turn >= 0 && { turn: this.#turn }) };
  }

  #meta(payload: JsonObject, line: JsonObject): StreamEvent[] {
    const threadId = requiredText(payload.id);
    if (this.#threadId !== undefined) {
      this.#isInherited = threadId !== this.#threadId;
      return [];
    }
    this.#threadId = threadId;
    const version = textIn(payload.cli_version);
    const workingDir = textIn(payload.cwd);
    this.#tell({
      cliVersion: payload.cli_version,
      modelProvider: payload.model_provider,
      parentThreadId: payload.parent_thread_id,
      agentNickname: payload.agent_nickname,
    });
    return [
      {
        type: 'session.started',
        sessionId: threadId,
        runtime: 'codex-cli',
        ...present({ runtimeVersion: version, workingDir }),
        ...momentIn(line.timestamp),
      },
    ];
  }

  #context(payload: JsonObject): StreamEvent[] {
    this.#model = textIn(payload.model) ?? this.#model;
    this.#tell({
      approvalPolicy: payload.approval_policy,
      sandbox: objectIn(payload.sandbox_policy)?.type,
      effort: payload.effort,
    });
    return [];
  }

  #tell(facts: Record<string, JsonValue | undefined>): void {
    for (const [name, fact] of Object.entries(facts)) {
      if (typeof fact === 'string') this.#metadata[name] = textTail(fact, TEXT_LIMIT_BYTES);
    }
  }

  #responseItem(
    item: JsonObject,
    metadata: JsonObject | undefined,
    envelope: EventEnvelope,
  ): StreamEvent[] | undefined {
    switch (item.type) {
      case 'message':
        return this.#messageEvents(item, metadata, envelope);
      case 'reasoning':
        return thinkingEvents(item, envelope);
      case 'function_call':
      case 'custom_tool_call':
        return this.#calls.called(item, envelope);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#calls.returned(item, envelope);
      case 'tool_search_call':
        return this.#calls.called({ ...item, name: 'tool_search' }, envelope);
      case 'tool_search_output':
        return this.#calls.returned({ ...item, output: item.tools ?? null }, envelope);
      case 'web_search_call': {
        const status = item.status === 'failed' ? 'failed' : 'completed';
        const id = textIn(item.id) ?? `web-search-${envelope.at ?? ''}`;
        return this.#calls.hosted(id, 'web_search', item.action ?? {}, status, envelope);
      }
      default:
        return undefined;
    }
  }

  #messageEvents(
    item: JsonObject,
    metadata: JsonObject | undefined,
    envelope: EventEnvelope,
  ): StreamEvent[] | undefined {
    const texts = objectsIn(item.content).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
    const text = texts.join('\n');
    if (item.role === 'assistant') {
      // The summary of a compaction, which has its own line.
      if (metadata?.compaction_output === true) return [];
      return [{ type: 'message', role: 'assistant', text, ...envelope }];
    }
    const { content_item_kinds: kinds } = objectIn(item.internal_chat_message_metadata_passthrough) ?? {};
    // Text that Codex itself adds becomes a `raw` event.
    if (item.role !== 'user' || !Array.isArray(kinds)) return undefined;
    if (kinds.includes('user.text')) return [{ type: 'message', role: 'user', text, ...envelope }];
    if (!kinds.includes('skills.selected_skill_instructions')) return undefined;
    const skill = /<name>([^<]+)<\/name>/.exec(text)?.[1];
    if (skill === undefined) return undefined;
    this.#skills += 1;
    return skillEvents(`skill-${this.#skills}`, skill, 'completed', envelope);
  }

  #event(payload: JsonObject, line: JsonObject): StreamEvent[] | undefined {
    switch (payload.type) {
      case 'task_started':
        this.#beginTurn(objectIn(payload.turn_attribution)?.turn_trigger === 'goal');
        return [];
      case 'task_complete':
        return this.#end(objectIn(payload.error), this.#envelope(line));
      case 'turn_aborted':
        // `codex exec` ends with the turn of its prompt, even if a goal is left.
        if (this.#isForGoal) return undefined;
        this.#ending = 'failed';
        this.#failure = `The turn was aborted: ${textIn(payload.reason) ?? 'no reason'}.`;
        return [{ type: 'error', message: this.#failure, ...this.#envelope(line) }];
      case 'error':
      case 'stream_error':
        return [{ type: 'error', message: requiredText(payload.message), ...this.#envelope(line) }];
      case 'token_count':
        return this.#count(payload, this.#envelope(line));
      case 'item_completed':
        return this.#itemCompleted(payload, line);
      // The turn's context has the settings. The others repeat the model's messages, in older versions.
      case 'thread_settings_applied':
      case 'user_message':
      case 'agent_message':
      case 'agent_reasoning':
      case 'context_compacted':
        return [];
      default:
        return undefined;
    }
  }

  /** For a goal, Codex continues by itself after the turn of the prompt. That is not a new turn. */
  #beginTurn(isForGoal: boolean): void {
    this.#isForGoal = isForGoal;
    if (isForGoal) return;
    this.#turn += 1;
    this.#usage = undefined;
    this.#ending = undefined;
    this.#failure = undefined;
  }

  #end(error: JsonObject | undefined, envelope: EventEnvelope): StreamEvent[] {
    this.#ending = error ? 'failed' : 'completed';
    if (!error) return [];
    const message = textIn(error.message) ?? 'The turn failed without a message.';
    this.#failure = textTail(message, TEXT_LIMIT_BYTES);
    return [{ type: 'error', message, ...envelope }];
  }

  #itemCompleted(payload: JsonObject, line: JsonObject): StreamEvent[] | undefined {
    const item = objectIn(payload.item);
    switch (item?.type) {
      case undefined:
        return undefined;
      // The model's own items report the same, and compaction has its own line.
      case 'UserMessage':
      case 'AgentMessage':
      case 'Reasoning':
      case 'ContextCompaction':
        return [];
      default:
        return item && this.#calls.completed(item, this.#envelope(line));
    }
  }

  #used(usage: Usage | undefined, envelope: EventEnvelope): StreamEvent[] | undefined {
    if (!usage) return undefined;
    this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage;
    return [{ type: 'usage', usage, ...present({ model: this.#model }), ...envelope }];
  }

  /** `token_count` repeats the usage record, more than once per request. Older versions have only this. */
  #count(payload: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    const info = objectIn(payload.info);
    if (this.#hasRecords || !info) return [];
    const total = usageOf(info.total_token_usage);
    const isNew = JSON.stringify(total) !== JSON.stringify(this.#counted);
    this.#counted = total;
    return isNew ? this.#used(usageOf(info.last_token_usage), envelope) : [];
  }

  summary(): NativeSummary {
    const { threads } = this.#calls.collaboration;
    return {
      ...present({
        ending: this.#ending,
        failure: this.#failure,
        sessionId: this.#threadId,
        usage: this.#usage,
      }),
      ...(Object.keys(threads).length > 0 && { subagents: threads }),
      metadata: { codex: this.#metadata },
    };
  }
}

function usageOf(value: JsonValue | undefined): Usage | undefined {
  const counts = objectIn(value);
  return (
    counts &&
    toUsage({
      input_tokens: tokensIn(counts.input_tokens),
      output_tokens: tokensIn(counts.output_tokens),
      cached_input_tokens: tokensIn(counts.cached_input_tokens),
      cache_write_input_tokens: tokensIn(counts.cache_write_input_tokens),
      reasoning_output_tokens: tokensIn(counts.reasoning_output_tokens),
    })
  );
}

/** Reasoning has a summary, its full text (open models), or neither if it is encrypted. */
function thinkingEvents(item: JsonObject, envelope: EventEnvelope): StreamEvent[] {
  const parts = [...objectsIn(item.summary), ...objectsIn(item.content)];
  const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n\n');
  return text === '' ? [] : [{ type: 'thinking', text, ...envelope }];
}

const summaryOf = ({ message }: JsonObject): { summary?: string } =>
  typeof message === 'string' && message !== '' ? { summary: message } : {};
