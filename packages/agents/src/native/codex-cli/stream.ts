import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { SessionRecord, SUMMARY_TEXT_BYTES } from '../../kit/session-record.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';
import { textTail } from '../../kit/text-tail.ts';
import { Collaboration } from './collaboration.ts';
import {
  type CodexItem,
  type CodexLine,
  type CodexUsage,
  calledEvent,
  fileEvents,
  parseCodexLine,
  resultEvent,
  toolNameOf,
  toUsage,
  usageSince,
} from './items.ts';

/** Limit of what a result row takes from the output of an agent. */
const TOOL_NAMES_LIMIT = 500;

/** What the telemetry collector `codex-jsonl` needs besides the events. */
export type CodexFacts = {
  /** Usage of the thread as Codex counts it: over all turns, with cached tokens counted as input too. */
  threadUsage?: CodexUsage;
  /** Usage of this turn. Absent if the usage of earlier turns is unknown. */
  turnUsage?: CodexUsage;
  model?: string;
  /** The agent's last message. */
  finalMessage?: string;
  /** Number of calls per tool, under context-eval's names. */
  toolCalls: Map<string, number>;
};

/**
 * Maps the output of `codex exec --json`, which reports the usage of the whole thread without its sub-agents. `before`
 * is the usage of earlier turns, absent if there were none. If it is `unread`, the usage of the turn is unknown too.
 */
export class CodexStream implements NativeMapper {
  readonly facts: CodexFacts = { toolCalls: new Map() };
  readonly #record = new SessionRecord();
  readonly #workdir: string | undefined;
  readonly #before: CodexUsage | 'unread' | undefined;
  readonly #called = new Set<string>();
  readonly #collaboration = new Collaboration(this.#record.subagents);
  #plan = '';

  constructor({ workdir }: MapperPlace = {}, before?: CodexUsage | 'unread') {
    this.#workdir = workdir;
    this.#before = before;
  }

  map(native: JsonObject): StreamEvent[] | undefined {
    const model = textIn(native.model);
    if (model) this.facts.model ??= textTail(model, SUMMARY_TEXT_BYTES);
    const line = parseCodexLine(native);
    return line && this.#lineEvents(line, native);
  }

  summary(): NativeSummary {
    return this.#record.summary();
  }

  #lineEvents(line: CodexLine, native: JsonObject): StreamEvent[] {
    switch (line.type) {
      case 'thread.started':
        return [this.#record.started('codex-cli', line.thread_id, present({ workingDir: this.#workdir }))];
      case 'turn.started':
        return [];
      case 'turn.completed':
        this.#record.ending = 'completed';
        return line.usage ? this.#usageEvents(line.usage) : [];
      case 'turn.failed':
        this.#record.ending = 'failed';
        return this.#failure(line.error.message);
      // Not always the end: Codex also reports a request that it retries this way.
      case 'error':
        return this.#failure(line.message);
      default:
        return this.#itemEvents(line.type, line.item, native.item);
    }
  }

  #failure(message: string): StreamEvent[] {
    this.#record.failure = message;
    return [{ type: 'error', message }];
  }

  #usageEvents(usage: CodexUsage): StreamEvent[] {
    const before = this.facts.threadUsage ?? this.#before;
    this.facts.threadUsage = usage;
    if (this.#before !== 'unread') {
      this.facts.turnUsage = usageSince(this.#before, usage);
      this.#record.usage = toUsage(this.facts.turnUsage);
    }
    return before === 'unread' ? [] : [{ type: 'usage', usage: toUsage(usageSince(before, usage)) }];
  }

  #itemEvents(
    phase: 'item.started' | 'item.updated' | 'item.completed',
    item: CodexItem,
    native: JsonValue | undefined,
  ): StreamEvent[] {
    const name = toolNameOf(item);
    if (name !== undefined) return this.#toolEvents(phase, item, name, native);
    if (item.type === 'todo_list') {
      const steps = item.items.map(
        (step) => ({ text: step.text, status: step.completed ? 'completed' : 'pending' }) as const,
      );
      const plan = JSON.stringify(steps);
      if (plan === this.#plan) return []; // the end of the turn repeats the plan
      this.#plan = plan;
      return [{ type: 'plan.updated', steps }];
    }
    if (phase !== 'item.completed') return [];
    switch (item.type) {
      case 'agent_message':
        this.facts.finalMessage = item.text;
        return [{ type: 'message', role: 'assistant', text: item.text }];
      case 'reasoning':
        return [{ type: 'thinking', text: item.text }];
      case 'error':
        return [{ type: 'error', message: item.message }];
      case 'file_change':
        this.#countTool('file_change');
        // A refused patch changed nothing, so it is kept as a raw event.
        return item.status === 'completed'
          ? fileEvents(item, this.#workdir)
          : [{ type: 'raw', native: native ?? null }];
      default:
        return [];
    }
  }

  #toolEvents(phase: string, item: CodexItem, name: string, native: JsonValue | undefined): StreamEvent[] {
    const events: StreamEvent[] = [];
    if (!this.#called.has(item.id)) {
      this.#called.add(item.id);
      events.push(calledEvent(item, name, native));
    }
    if (item.type === 'collab_tool_call' && item.tool === 'spawn_agent') {
      events.push(...this.#collaboration.started(item.id, 'agent'));
    }
    if (phase !== 'item.completed') return events;
    this.#called.delete(item.id);
    this.#countTool(item.type === 'mcp_tool_call' ? `mcp:${item.server}/${item.tool}` : item.type);
    return [...events, ...this.#effects(item, native), resultEvent(item, native)];
  }

  #effects(item: CodexItem, native: JsonValue | undefined): StreamEvent[] {
    if (item.type === 'command_execution') {
      const skill = skillIn(item.command);
      if (skill === undefined) return [];
      return skillEvents(`${item.id}/skill`, skill, item.status === 'completed' ? 'completed' : 'failed');
    }
    if (item.type !== 'collab_tool_call') return [];
    const [threadId] = item.receiver_thread_ids;
    if (item.tool === 'spawn_agent') {
      if (threadId === undefined) return this.#collaboration.failed(item.id);
      this.#collaboration.hasThread(item.id, threadId);
    }
    return this.#collaboration.ended(objectIn(objectIn(native)?.agents_states));
  }

  #countTool(name: string): void {
    const { toolCalls } = this.facts;
    const key = toolCalls.has(name) || toolCalls.size < TOOL_NAMES_LIMIT ? name : 'other';
    toolCalls.set(key, (toolCalls.get(key) ?? 0) + 1);
  }
}
