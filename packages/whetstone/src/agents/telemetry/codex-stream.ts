import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { textTail } from '../text-tail.ts';
import {
  type CodexItem,
  type CodexLine,
  type CodexUsage,
  calledEvent,
  fileEvents,
  type ParsedLine,
  parseCodexLine,
  resultEvent,
  toolNameOf,
  toUsage,
  usageSince,
} from './codex-events.ts';
import { LineReader } from './line-reader.ts';

const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
/** As much as the log file keeps; a stream without end must not become events without end. */
const EVENTS_LIMIT_BYTES = 64 * 1024 * 1024;

/** What goes into a result row is bounded, whatever an agent prints. */
const TEXT_LIMIT_BYTES = 4 * 1024;
const TOOL_NAMES_LIMIT = 500;

export type CodexSummary = {
  lines: number;
  malformed: number;
  /** Of the thread, as Codex counts it. */
  usage?: CodexUsage;
  model?: string;
  hasFinalMessage: boolean;
  isCompleted: boolean;
  /** Why the turn failed, or else the last error that was reported. */
  failure?: string;
  /** Whether items beyond the limit were left out. */
  isTruncated: boolean;
  /** Tool calls by context-eval's names. */
  toolCalls: Map<string, number>;
};

/** Follows the output of `codex exec --json`: emits events line by line and sums up. Never throws. */
export class CodexStream {
  readonly summary: CodexSummary = {
    lines: 0,
    malformed: 0,
    hasFinalMessage: false,
    isCompleted: false,
    isTruncated: false,
    toolCalls: new Map(),
  };
  readonly #reader = new LineReader((line) => this.#readLine(line), LINE_LIMIT_BYTES);
  readonly #emit: (event: StreamEvent) => void;
  readonly #workdir: string;
  readonly #called = new Set<string>();
  #bytes = 0;

  constructor(options: { workdir: string; emit: (event: StreamEvent) => void }) {
    this.#workdir = options.workdir;
    this.#emit = options.emit;
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  end(): void {
    this.#reader.end();
  }

  get usage(): Usage | undefined {
    return this.summary.usage && toUsage(this.summary.usage);
  }

  #readLine(bytes: Buffer | 'too-long'): void {
    if (bytes !== 'too-long' && bytes.length === 0) return;
    const parsed = bytes === 'too-long' ? { kind: 'malformed' as const } : parseCodexLine(bytes);
    this.summary.lines += 1;
    if (parsed.kind === 'malformed') {
      this.summary.malformed += 1;
      return;
    }
    this.#bytes += bytes.length;
    if (this.#bytes > EVENTS_LIMIT_BYTES) {
      this.#readTruncated(parsed);
      return;
    }
    this.#readModel(parsed.native);
    if (parsed.kind === 'unknown') this.#emit({ type: 'raw', native: parsed.native });
    else this.#readEvent(parsed.line, parsed.native);
  }

  /** Beyond the limit only the end of the turn still counts: it is what tells success from failure. */
  #readTruncated(parsed: ParsedLine): void {
    if (!this.summary.isTruncated) {
      this.summary.isTruncated = true;
      this.#emit({ type: 'error', message: 'The rest of the event stream was left out: it is too long.' });
    }
    if (parsed.kind !== 'known') return;
    const { line } = parsed;
    if (line.type === 'turn.completed' || line.type === 'turn.failed') this.#readEvent(line, parsed.native);
  }

  #readModel(native: JsonObject): void {
    const { model } = native;
    if (typeof model === 'string' && model !== '') this.summary.model ??= textTail(model, TEXT_LIMIT_BYTES);
  }

  #readEvent(line: CodexLine, native: JsonObject): void {
    switch (line.type) {
      case 'thread.started':
        this.#emit({
          type: 'session.started',
          sessionId: line.thread_id,
          runtime: 'codex-cli',
          workingDir: this.#workdir,
        });
        return;
      case 'turn.started':
        return;
      case 'turn.completed':
        this.summary.isCompleted = true;
        if (line.usage) this.#readUsage(line.usage);
        return;
      case 'turn.failed':
        this.summary.isCompleted = false;
        this.#fail(line.error.message);
        return;
      case 'error':
        this.#fail(line.message);
        return;
      default:
        this.#readItem(line.type, line.item, native.item);
    }
  }

  #fail(message: string): void {
    this.summary.failure = textTail(message, TEXT_LIMIT_BYTES);
    this.#emit({ type: 'error', message });
  }

  #readUsage(usage: CodexUsage): void {
    this.#emit({ type: 'usage', usage: toUsage(usageSince(this.summary.usage, usage)) });
    this.summary.usage = usage;
  }

  #readItem(
    phase: 'item.started' | 'item.updated' | 'item.completed',
    item: CodexItem,
    native: JsonValue | undefined,
  ): void {
    const name = toolNameOf(item);
    if (name !== undefined) {
      this.#readToolItem(phase, item, name, native);
      return;
    }
    if (item.type === 'todo_list') {
      const steps = item.items.map(
        (step) => ({ text: step.text, status: step.completed ? 'completed' : 'pending' }) as const,
      );
      this.#emit({ type: 'plan.updated', steps });
      return;
    }
    if (phase !== 'item.completed') return;
    if (item.type === 'agent_message') {
      this.summary.hasFinalMessage = true;
      this.#emit({ type: 'message', role: 'assistant', text: item.text });
    } else if (item.type === 'reasoning') {
      this.#emit({ type: 'thinking', text: item.text });
    } else if (item.type === 'error') {
      this.#emit({ type: 'error', message: item.message });
    } else if (item.type === 'file_change') {
      this.#countTool('file_change');
      for (const event of fileEvents(item, this.#workdir)) this.#emit(event);
    }
  }

  #readToolItem(phase: string, item: CodexItem, name: string, native: JsonValue | undefined): void {
    if (!this.#called.has(item.id)) {
      this.#called.add(item.id);
      this.#emit(calledEvent(item, name, native));
    }
    if (phase !== 'item.completed') return;
    this.#called.delete(item.id);
    this.#countTool(item.type === 'mcp_tool_call' ? `mcp:${item.server}/${item.tool}` : item.type);
    this.#emit(resultEvent(item, native));
  }

  #countTool(name: string): void {
    const { toolCalls } = this.summary;
    const key = toolCalls.has(name) || toolCalls.size < TOOL_NAMES_LIMIT ? name : 'other';
    toolCalls.set(key, (toolCalls.get(key) ?? 0) + 1);
  }
}
