import {
  addUsage,
  type EventEnvelope,
  emptyUsage,
  type JsonObject,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { costIn, objectIn, textIn } from '../../kit/fields.ts';
import { MESSAGE_PARTS } from './content.ts';
import { messageUsage, modelUsage, usageBeyond } from './usage-buckets.ts';

/**
 * The usage of a turn, read from its stream. Messages are not counted, because they carry the values from when they
 * began. What counts is the provider's stream parts (with `--include-partial-messages`) and the `result`, which also
 * covers sub-agents and compaction. Its `modelUsage` and `total_cost_usd` add up over all turns of a session.
 */
export class StreamUsage {
  /** The usage in all events so far. */
  #reported: Usage | undefined;
  /** The usage in all `result` items so far. */
  #total = emptyUsage();
  #costUsd: number | undefined;
  /** The model call that is streaming, by parent call id; '' is the agent itself. */
  readonly #streaming = new Map<string, { model: string | undefined; usage: JsonObject }>();

  /** The events of one part of the provider's stream; `undefined` for an unknown kind of part. */
  part(part: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    const caller = envelope.parentCallId ?? '';
    switch (part.type) {
      case 'message_start': {
        const message = objectIn(part.message) ?? {};
        this.#streaming.set(caller, { model: textIn(message.model), usage: objectIn(message.usage) ?? {} });
        return [];
      }
      case 'message_delta': {
        const call = this.#streaming.get(caller);
        for (const [bucket, tokens] of Object.entries(objectIn(part.usage) ?? {})) {
          if (call && tokens !== null) call.usage[bucket] = tokens;
        }
        return [];
      }
      case 'message_stop': {
        const call = this.#streaming.get(caller);
        this.#streaming.delete(caller);
        if (!call) return [];
        const model = call.model !== undefined && { model: call.model };
        return this.#report(messageUsage(call.usage), { ...model, ...envelope });
      }
      default:
        return MESSAGE_PARTS.has(part.type) ? [] : undefined;
    }
  }

  /** The usage up to a `result` that no event has reported yet. */
  result(result: JsonObject): StreamEvent[] {
    const since = objectIn(result.model_usage_since_last_result);
    if (since) return this.#resultByModel(since);
    // Older versions do not report it, and their `usage` leaves out sub-agents.
    const usage = objectIn(result.usage);
    if (usage) this.#total = addUsage(this.#total, messageUsage(usage));
    this.#costUsd = costIn(result.total_cost_usd) ?? this.#costUsd;
    return usage ? this.#reportRest() : [];
  }

  #resultByModel(since: JsonObject): StreamEvent[] {
    const models = Object.entries(since).map(([model, entry]) => {
      const fields = objectIn(entry) ?? {};
      return { model, usage: modelUsage(fields), costUsd: costIn(fields.costUSD) };
    });
    const sum = models.reduce((usage, entry) => addUsage(usage, entry.usage), emptyUsage());
    this.#total = addUsage(this.#total, sum);
    for (const { costUsd = 0 } of models) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    const rest = usageBeyond(this.#total, this.#reported);
    if (rest && totalTokens(rest) === totalTokens(sum)) {
      return models.flatMap(({ model, usage, costUsd }) =>
        this.#report(usage, { model, ...present({ costUsd }) }),
      );
    }
    return this.#reportRest();
  }

  #reportRest(): StreamEvent[] {
    const rest = usageBeyond(this.#total, this.#reported);
    if (rest) return this.#report(rest, {});
    this.#reported ??= this.#total;
    return [];
  }

  #report(usage: Usage, about: EventEnvelope & { model?: string; costUsd?: number }): StreamEvent[] {
    this.#reported = this.#reported ? addUsage(this.#reported, usage) : usage;
    return [{ type: 'usage', usage, ...about }];
  }

  summary(): { usage?: Usage; costUsd?: number } {
    return {
      ...present({ usage: this.#reported, costUsd: this.#costUsd }),
    };
  }
}
