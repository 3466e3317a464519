import { type JsonValue, jsonOrText, type StreamEvent, type Usage, usageSchema } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { changeNamed, fileChanged, messageEvents, thinkingEvents } from '../kit/mapped-events.ts';
import type { HarnessPart } from './harness.ts';

/** Parts of which another part has the whole. */
const PARTIAL = new Set([
  ...['stream-start', 'text-start', 'text-delta', 'reasoning-start', 'reasoning-delta', 'finish'],
  ...['tool-input-start', 'tool-input-delta', 'tool-input-end'],
]);

/** Maps the parts that an adapter emits in a turn. */
export class HarnessParts {
  /** Whether the last step of the turn ended, and how. */
  ending: 'completed' | 'failed' | undefined;
  /** Whether every step reported its usage. */
  isUsageWhole = true;
  readonly #workdir: string;
  readonly #texts = new Map<string, string>();
  #model: string | undefined;

  /** `model`: the one that was asked for, if the adapter does not say which answers. */
  constructor(workdir: string, model: string | undefined) {
    this.#workdir = workdir;
    this.#model = model;
  }

  map(part: HarnessPart): StreamEvent[] {
    const { type, id = '' } = part;
    if (type === 'stream-start') this.#model = part.modelId ?? this.#model;
    if (type === 'finish') this.#finish(part.finishReason);
    if (/-delta$/.test(type) && typeof part.delta === 'string') {
      this.#texts.set(id, (this.#texts.get(id) ?? '') + part.delta);
    }
    if (PARTIAL.has(type)) return [];
    switch (type) {
      case 'text-end':
        return messageEvents('assistant', this.#close(id));
      case 'reasoning-end':
        return thinkingEvents(this.#close(id));
      case 'tool-call':
        return [
          { type: 'action.called', callId: part.toolCallId, name: part.toolName, input: inputOf(part.input) },
        ];
      case 'tool-result': {
        // Of a tool that reports while it runs, the last result counts.
        if (part.preliminary === true) return [];
        const status = part.isError === true ? 'failed' : 'completed';
        return [{ type: 'action.result', callId: part.toolCallId, status, output: part.result ?? null }];
      }
      case 'tool-approval-request':
        return [
          { type: 'approval.requested', callId: part.toolCallId },
          {
            type: 'approval.decided',
            callId: part.toolCallId,
            decision: 'denied',
            by: 'policy',
            rule: 'default',
          },
        ];
      case 'finish-step':
        return this.#usage(part.usage);
      case 'file-change':
        return [fileChanged(part.path, this.#workdir, changeNamed(part.event))];
      case 'compaction':
        return [{ type: 'compaction', summary: part.summary }];
      case 'error':
        this.ending = 'failed';
        return [{ type: 'error', message: messageIn(part.error) }];
      default:
        return [{ type: 'raw', native: JSON.parse(JSON.stringify(part)) }];
    }
  }

  #close(id: string): string {
    const text = this.#texts.get(id) ?? '';
    this.#texts.delete(id);
    return text;
  }

  #finish(reason: { unified?: string } | string | undefined): void {
    const word = typeof reason === 'string' ? reason : reason?.unified;
    this.ending ??= word === 'stop' || word === 'tool-calls' || word === 'other' ? 'completed' : 'failed';
  }

  #usage(reported: HarnessPart['usage']): StreamEvent[] {
    const { inputTokens = {}, outputTokens = {} } = reported ?? {};
    const { total, cacheRead, cacheWrite } = inputTokens;
    const parsed = usageSchema.safeParse({
      // The total counts what came from the cache and what went there.
      inputTokens: inputTokens.noCache ?? total - (cacheRead ?? 0) - (cacheWrite ?? 0),
      outputTokens: outputTokens.total,
      ...present({
        cacheReadTokens: cacheRead,
        cacheWriteTokens: cacheWrite,
        reasoningTokens: outputTokens.reasoning,
      }),
    });
    // No model call has an empty prompt: the adapter of Pi reports zeros, because it does not know.
    if (!parsed.success || !(total > 0)) {
      this.isUsageWhole = false;
      return [];
    }
    const usage: Usage = parsed.data;
    return [{ type: 'usage', usage, ...present({ model: this.#model }) }];
  }
}

/** The input of a call is JSON, written as text. */
const inputOf = (input: unknown): JsonValue =>
  typeof input === 'string' ? jsonOrText(input) : ((input ?? null) as JsonValue);

function messageIn(error: unknown): string {
  if (typeof error === 'string') return error;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : JSON.stringify(error ?? null);
}
