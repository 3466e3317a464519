import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { SessionRecord, SUMMARY_TEXT_BYTES } from '../../kit/session-record.ts';
import { textTail } from '../../kit/text-tail.ts';
import { CodexCalls } from './codex-calls.ts';
import { type CodexUsage, codexUsage, toUsage, usageSince } from './items.ts';

/** Limit of what a result row takes from the output of an agent. */
const TOOL_NAMES_LIMIT = 500;

/** What the telemetry collector `codex-jsonl` needs besides the events. */
export type CodexFacts = {
  /** Usage of the thread as Codex counts it: over all turns, with cached tokens counted as input too. */
  threadUsage?: CodexUsage;
  /** Usage of this turn. Absent if the usage of earlier turns is unknown. */
  turnUsage?: CodexUsage;
  model?: string;
  finalMessage?: string;
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
  readonly #calls: CodexCalls;
  #plan = '';

  constructor({ workdir }: MapperPlace = {}, before?: CodexUsage | 'unread') {
    this.#workdir = workdir;
    this.#before = before;
    this.#calls = new CodexCalls(workdir, this.#record.subagents);
  }

  /** `undefined` for an item without a mapping, or whose shape is that of another version. */
  map(line: JsonObject): StreamEvent[] | undefined {
    const model = textIn(line.model);
    if (model) this.facts.model ??= textTail(model, SUMMARY_TEXT_BYTES);
    switch (line.type) {
      case 'thread.started': {
        const facts = present({ workingDir: this.#workdir });
        return [this.#record.started('codex-cli', requiredText(line.thread_id), facts)];
      }
      case 'turn.started':
        return [];
      case 'turn.completed': {
        this.#record.ending = 'completed';
        const usage = codexUsage(line.usage);
        return usage ? this.#usageEvents(usage, line) : [];
      }
      case 'turn.failed': {
        const events = this.#failure(requiredText(objectIn(line.error)?.message));
        this.#record.ending = 'failed';
        return events;
      }
      // Not always the end: Codex also reports a request that it retries this way.
      case 'error':
        return this.#failure(requiredText(line.message));
      case 'item.started':
      case 'item.updated':
      case 'item.completed': {
        const item = objectIn(line.item);
        return item && this.#itemEvents(item, requiredText(item.id), line.type === 'item.completed');
      }
      default:
        return undefined;
    }
  }

  summary(): NativeSummary {
    return this.#record.summary();
  }

  #failure(message: string): StreamEvent[] {
    this.#record.failure = message;
    return [{ type: 'error', message }];
  }

  #usageEvents(usage: CodexUsage, item: JsonObject): StreamEvent[] {
    const before = this.facts.threadUsage ?? this.#before;
    this.facts.threadUsage = usage;
    // The usage of the thread is not that of the turn. The item is kept as it is.
    if (this.#before === 'unread' || before === 'unread') return [{ type: 'raw', native: item }];
    const events = this.#record.used(toUsage(usageSince(before, usage)), { calls: null });
    if (events.length > 0) this.facts.turnUsage = usageSince(this.#before, usage);
    return events;
  }

  #itemEvents(item: JsonObject, id: string, isDone: boolean): StreamEvent[] | undefined {
    const called = this.#calls.events(item, id, isDone);
    if (called && isDone) {
      this.#countTool(item.type === 'mcp_tool_call' ? `mcp:${item.server}/${item.tool}` : `${item.type}`);
    }
    if (called) return called;
    switch (item.type) {
      case 'todo_list':
        return this.#planEvents(objectsIn(item.items));
      case 'agent_message':
        return isDone ? this.#answer(requiredText(item.text)) : [];
      case 'reasoning':
        return isDone ? [{ type: 'thinking', text: requiredText(item.text) }] : [];
      case 'error':
        return isDone ? [{ type: 'error', message: requiredText(item.message) }] : [];
      default:
        return undefined;
    }
  }

  #answer(text: string): StreamEvent[] {
    this.facts.finalMessage = text;
    return [{ type: 'message', role: 'assistant', text }];
  }

  #planEvents(items: JsonObject[]): StreamEvent[] {
    const steps = items.map(
      ({ text, completed }) =>
        ({ text: requiredText(text), status: completed === true ? 'completed' : 'pending' }) as const,
    );
    const plan = JSON.stringify(steps);
    if (plan === this.#plan) return []; // the end of the turn repeats the plan
    this.#plan = plan;
    return [{ type: 'plan.updated', steps }];
  }

  #countTool(name: string): void {
    const { toolCalls } = this.facts;
    const key = toolCalls.has(name) || toolCalls.size < TOOL_NAMES_LIMIT ? name : 'other';
    toolCalls.set(key, (toolCalls.get(key) ?? 0) + 1);
  }
}
