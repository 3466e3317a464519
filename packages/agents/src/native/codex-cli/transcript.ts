import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { approvalPolicyIn } from '../../kit/approval-policy.ts';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { thinkingEvents } from '../../kit/mapped-events.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { enveloped, SessionRecord, SUMMARY_TEXT_BYTES } from '../../kit/session-record.ts';
import { skillEvents } from '../../kit/skill-file.ts';
import { textTail } from '../../kit/text-tail.ts';
import { codexUsage, toUsage } from './items.ts';
import { hostedCall, RolloutCalls } from './rollout-calls.ts';

/**
 * Maps a rollout of Codex 0.169. It has what `codex exec --json` leaves out: times, the model, the usage of each
 * request, refused commands, compaction, prompts and skills. The summary has usage and ending of the last turn.
 *
 * A sub-agent's rollout names its parent in the metadata, and the parent's summary maps each thread to its call. A
 * forked thread begins with a copy of its parent's lines; they give no events.
 */
export class CodexRollout implements NativeMapper {
  readonly #record = new SessionRecord();
  readonly #calls: RolloutCalls;
  readonly #metadata: JsonObject = {};
  /** In the lines that a fork copied, which end before the first line that names its own thread. */
  #isInherited = false;
  #isForGoal = false;
  #model: string | undefined;
  /** Of the last turn. */
  #turnId: string | undefined;
  #skills = 0;
  /** Usage of the whole thread as JSON, in versions without usage records. */
  #counted: string | undefined;
  #hasRecords = false;

  constructor({ workdir }: MapperPlace = {}) {
    this.#calls = new RolloutCalls(workdir, this.#record.subagents);
  }

  map(line: JsonObject): StreamEvent[] | undefined {
    const payload = objectIn(line.payload);
    if (!payload) return undefined;
    if (line.type === 'session_meta') return this.#meta(payload, line);
    if (this.#isInherited && payload.thread_id !== this.#record.sessionId) return [];
    this.#isInherited = false;
    return enveloped(this.#lineEvents(line, payload), this.#record.envelope(line));
  }

  #lineEvents(line: JsonObject, payload: JsonObject): StreamEvent[] | undefined {
    switch (line.type) {
      case 'turn_context':
        this.#model = textIn(payload.model) ?? this.#model;
        this.#turnId = textIn(payload.turn_id) ?? this.#turnId;
        this.#keep({
          approvalPolicy: payload.approval_policy,
          sandbox: objectIn(payload.sandbox_policy)?.type,
          effort: payload.effort,
        });
        return [];
      case 'response_item':
        return this.#responseItem(payload, line);
      case 'event_msg':
        return this.#event(payload);
      case 'token_usage_record':
        this.#hasRecords = true;
        return this.#used(payload.usage);
      case 'compacted':
        return [{ type: 'compaction', ...present({ summary: textIn(payload.message) || undefined }) }];
      default:
        return undefined;
    }
  }

  #meta(payload: JsonObject, line: JsonObject): StreamEvent[] {
    const threadId = requiredText(payload.id);
    if (this.#record.sessionId !== undefined) {
      this.#isInherited = threadId !== this.#record.sessionId;
      return [];
    }
    this.#keep({
      cliVersion: payload.cli_version,
      modelProvider: payload.model_provider,
      parentThreadId: payload.parent_thread_id,
      agentNickname: payload.agent_nickname,
    });
    const facts = present({ runtimeVersion: payload.cli_version, workingDir: payload.cwd });
    return [{ ...this.#record.started('codex-cli', threadId, facts), ...momentIn(line.timestamp) }];
  }

  #keep(facts: Record<string, JsonValue | undefined>): void {
    for (const [name, fact] of Object.entries(facts)) {
      if (typeof fact === 'string') this.#metadata[name] = textTail(fact, SUMMARY_TEXT_BYTES);
    }
  }

  #responseItem(item: JsonObject, { metadata, timestamp }: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'message':
        return this.#messageEvents(item, objectIn(metadata)?.compaction_output === true);
      case 'reasoning':
        return reasoningEvents(item);
      case 'function_call':
      case 'custom_tool_call':
        return this.#calls.called(item);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#calls.returned(item);
      case 'tool_search_call':
        return this.#calls.called({ ...item, name: 'tool_search' });
      case 'tool_search_output':
        return this.#calls.returned({ ...item, output: item.tools ?? null });
      case 'web_search_call': {
        const id = textIn(item.id) ?? `web-search-${momentIn(timestamp).at ?? ''}`;
        const status = item.status === 'failed' ? 'failed' : 'completed';
        return hostedCall(id, 'web_search', item.action ?? {}, { status });
      }
      default:
        return undefined;
    }
  }

  #messageEvents(item: JsonObject, isSummary: boolean): StreamEvent[] | undefined {
    const text = textsOf(objectsIn(item.content)).join('\n');
    // The summary of a compaction has its own line.
    if (item.role === 'assistant') return isSummary ? [] : [{ type: 'message', role: 'assistant', text }];
    const { content_item_kinds: kinds } = objectIn(item.internal_chat_message_metadata_passthrough) ?? {};
    // Text that Codex itself adds becomes a `raw` event.
    if (item.role !== 'user' || !Array.isArray(kinds)) return undefined;
    if (kinds.includes('user.text')) return [{ type: 'message', role: 'user', text }];
    if (!kinds.includes('skills.selected_skill_instructions')) return undefined;
    const skill = /<name>([^<]+)<\/name>/.exec(text)?.[1];
    if (skill === undefined) return undefined;
    this.#skills += 1;
    return skillEvents(`skill-${this.#skills}`, skill, 'completed');
  }

  #event(payload: JsonObject): StreamEvent[] | undefined {
    switch (payload.type) {
      case 'task_started':
        // For a goal, Codex continues by itself after the turn of the prompt. That is not a new turn.
        this.#isForGoal = objectIn(payload.turn_attribution)?.turn_trigger === 'goal';
        if (!this.#isForGoal) this.#record.beginTurn();
        return [];
      case 'task_complete': {
        this.#record.ending = 'completed';
        const error = objectIn(payload.error);
        return error ? this.#fail(textIn(error.message) ?? 'The turn failed without a message.') : [];
      }
      case 'turn_aborted':
        // `codex exec` ends with the turn of its prompt, even if a goal is left.
        if (this.#isForGoal) return undefined;
        return this.#fail(`The turn was aborted: ${textIn(payload.reason) ?? 'no reason'}.`);
      case 'error':
      case 'stream_error':
        return [{ type: 'error', message: requiredText(payload.message) }];
      case 'token_count':
        return this.#count(objectIn(payload.info));
      case 'item_completed':
        return this.#itemCompleted(objectIn(payload.item));
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

  #fail(message: string): StreamEvent[] {
    this.#record.ending = 'failed';
    this.#record.failure = message;
    return [{ type: 'error', message }];
  }

  #itemCompleted(item: JsonObject | undefined): StreamEvent[] | undefined {
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
        return item && this.#calls.completed(item);
    }
  }

  #used(counts: JsonValue | undefined): StreamEvent[] | undefined {
    const usage = codexUsage(counts);
    return usage && this.#record.used(toUsage(usage), { model: this.#model });
  }

  /** `token_count` repeats the usage record, more than once per request. Older versions have only this. */
  #count(info: JsonObject | undefined): StreamEvent[] | undefined {
    if (this.#hasRecords || !info) return [];
    const total = JSON.stringify(info.total_token_usage);
    const isNew = total !== this.#counted;
    this.#counted = total;
    return isNew ? this.#used(info.last_token_usage) : [];
  }

  summary(): NativeSummary {
    const { approvalPolicy, sandbox } = this.#metadata;
    const threadId = this.#record.sessionId;
    const said = approvalPolicyIn(approvalPolicy);
    const own = { ...said.own, ...present({ sandbox: textIn(sandbox) }) };
    const facts = {
      ...said,
      ...(Object.keys(own).length > 0 && { own }),
      ...present({ threadId, turnId: this.#turnId }),
    };
    return { ...this.#record.summary(), facts, metadata: { codex: this.#metadata } };
  }
}

const textsOf = (parts: JsonObject[]): string[] => parts.flatMap(({ text }) => textIn(text) ?? []);

/** Reasoning has a summary, its full text (open models), or neither if it is encrypted. */
const reasoningEvents = ({ summary, content }: JsonObject): StreamEvent[] =>
  thinkingEvents(textsOf([...objectsIn(summary), ...objectsIn(content)]).join('\n\n'));
