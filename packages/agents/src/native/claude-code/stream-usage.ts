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
 * What a stream says that a turn used. The messages of the stream carry the values with which they began, so they are
 * not counted. The parts of the provider's stream are, which `--include-partial-messages` adds, and so is the `result`,
 * which covers sub-agents and compaction too. Its `modelUsage` and `total_cost_usd` add up over all turns of a session.
 */
export class StreamUsage {
  /** What the events have told, and what the results have. */
  #told: Usage | undefined;
  #total = emptyUsage();
  #costUsd: number | undefined;
  /** The model call that streams now, of the agent itself ('') and of each sub-agent. */
  readonly #streaming = new Map<string, { model: string | undefined; usage: JsonObject }>();

  /** A part of the provider's stream; `undefined` for one of an unknown kind. */
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
        return this.#tell(messageUsage(call.usage), { ...model, ...envelope });
      }
      default:
        return MESSAGE_PARTS.has(part.type) ? [] : undefined;
    }
  }

  /** The rest of what was used up to a `result`: all of it where nothing of it was streamed. */
  result(result: JsonObject): StreamEvent[] {
    const since = objectIn(result.model_usage_since_last_result);
    if (since) return this.#resultByModel(since);
    // Older versions do not tell it, and their `usage` leaves sub-agents out.
    const usage = objectIn(result.usage);
    if (usage) this.#total = addUsage(this.#total, messageUsage(usage));
    this.#costUsd = costIn(result.total_cost_usd) ?? this.#costUsd;
    return usage ? this.#tellRest() : [];
  }

  #resultByModel(since: JsonObject): StreamEvent[] {
    const models = Object.entries(since).map(([model, entry]) => {
      const fields = objectIn(entry) ?? {};
      return { model, usage: modelUsage(fields), costUsd: costIn(fields.costUSD) };
    });
    const sum = models.reduce((usage, entry) => addUsage(usage, entry.usage), emptyUsage());
    this.#total = addUsage(this.#total, sum);
    for (const { costUsd = 0 } of models) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    const rest = usageBeyond(this.#total, this.#told);
    if (rest && totalTokens(rest) === totalTokens(sum)) {
      return models.flatMap(({ model, usage, costUsd }) =>
        this.#tell(usage, { model, ...present({ costUsd }) }),
      );
    }
    return this.#tellRest();
  }

  #tellRest(): StreamEvent[] {
    const rest = usageBeyond(this.#total, this.#told);
    if (rest) return this.#tell(rest, {});
    this.#told ??= this.#total;
    return [];
  }

  #tell(usage: Usage, about: EventEnvelope & { model?: string; costUsd?: number }): StreamEvent[] {
    this.#told = this.#told ? addUsage(this.#told, usage) : usage;
    return [{ type: 'usage', usage, ...about }];
  }

  summary(): { usage?: Usage; costUsd?: number } {
    return {
      ...present({ usage: this.#told, costUsd: this.#costUsd }),
    };
  }
}
