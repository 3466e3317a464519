import {
  addUsage,
  emptyUsage,
  type JsonObject,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
import { costIn, objectIn, textIn } from '../../kit/fields.ts';
import type { SessionRecord } from '../../kit/session-record.ts';
import { MESSAGE_PARTS } from './content.ts';
import { messageUsage, modelUsage, usageBeyond } from './usage-buckets.ts';

/**
 * The usage of a turn, read from its stream. Messages are not counted, because they carry the values from when they
 * began. What counts is the provider's stream parts (with `--include-partial-messages`) and the `result`, which also
 * covers sub-agents and compaction. Its `modelUsage` and `total_cost_usd` add up over all turns of a session.
 */
export class StreamUsage {
  readonly #record: SessionRecord;
  #total = emptyUsage();
  /** Input tokens of each message since the last result, by model and by the message's id. */
  readonly #messages = new Map<string, Map<string, number>>();
  /** The model call that is streaming, by parent call id; '' is the agent itself. */
  readonly #streaming = new Map<string, { model: string | undefined; usage: JsonObject }>();

  readonly #isNew: boolean;

  constructor(record: SessionRecord, isNew: boolean) {
    this.#record = record;
    this.#isNew = isNew;
  }

  /** Counts a message, which is one model call. It has one item per block, each with the input tokens of the call. */
  message({ id, model, usage }: JsonObject): void {
    if (typeof id !== 'string' || typeof model !== 'string') return;
    const messages = this.#messages.get(model) ?? new Map<string, number>();
    messages.set(id, inputOf(messageUsage(objectIn(usage) ?? {})));
    this.#messages.set(model, messages);
  }

  /** The events of one part of the provider's stream; `undefined` for an unknown kind of part. */
  part(part: JsonObject, caller = ''): StreamEvent[] | undefined {
    const call = this.#streaming.get(caller);
    switch (part.type) {
      case 'message_start': {
        const message = objectIn(part.message) ?? {};
        this.#streaming.set(caller, { model: textIn(message.model), usage: objectIn(message.usage) ?? {} });
        return [];
      }
      case 'message_delta':
        for (const [bucket, tokens] of Object.entries(objectIn(part.usage) ?? {})) {
          if (call && tokens !== null) call.usage[bucket] = tokens;
        }
        return [];
      case 'message_stop':
        this.#streaming.delete(caller);
        return call ? this.#record.used(messageUsage(call.usage), { model: call.model }) : [];
      default:
        return MESSAGE_PARTS.has(part.type) ? [] : undefined;
    }
  }

  /** The usage up to a `result` that no event has reported yet. */
  result(result: JsonObject): StreamEvent[] {
    const since = objectIn(result.model_usage_since_last_result);
    if (since) return this.#resultByModel(since);
    // Older versions and `--output-format json` do not report it. Their `modelUsage` is that of the session, and their
    // `usage` leaves out sub-agents.
    const session = objectIn(result.modelUsage);
    const usage = objectIn(result.usage);
    if (session && (this.#isNew || isSame(sumOf(session), usage))) {
      this.#total = emptyUsage();
      this.#record.costUsd = 0;
      return this.#resultByModel(session);
    }
    if (usage) this.#total = addUsage(this.#total, messageUsage(usage));
    if (this.#isNew) this.#record.costUsd = costIn(result.total_cost_usd) ?? this.#record.costUsd;
    return usage ? this.#reportRest() : [];
  }

  #resultByModel(since: JsonObject): StreamEvent[] {
    const models = Object.entries(since).map(([model, entry]) => {
      const fields = objectIn(entry) ?? {};
      return { model, usage: modelUsage(fields), costUsd: costIn(fields.costUSD) };
    });
    const sum = models.reduce((usage, entry) => addUsage(usage, entry.usage), emptyUsage());
    this.#total = addUsage(this.#total, sum);
    const rest = usageBeyond(this.#total, this.#record.usage);
    if (rest && totalTokens(rest) === totalTokens(sum)) {
      const events = models.flatMap(({ usage, ...about }) =>
        this.#record.used(usage, { ...about, calls: this.#callsOf(about.model, usage) }),
      );
      this.#messages.clear();
      return events;
    }
    for (const { costUsd = 0 } of models) this.#record.costUsd += costUsd;
    return this.#reportRest();
  }

  /** `null` if the model used more input than its messages: they are not all of its calls. */
  #callsOf(model: string, usage: Usage): number | null {
    const messages = [...(this.#messages.get(model)?.values() ?? [])];
    const seen = messages.reduce((sum, tokens) => sum + tokens, 0);
    return messages.length > 0 && seen === inputOf(usage) ? messages.length : null;
  }

  #reportRest(): StreamEvent[] {
    const rest = usageBeyond(this.#total, this.#record.usage);
    if (rest) return this.#record.used(rest, { calls: null });
    this.#record.usage ??= this.#total;
    return [];
  }
}

const inputOf = ({ inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

const sumOf = (models: JsonObject): Usage =>
  Object.values(models).reduce<Usage>(
    (sum, entry) => addUsage(sum, modelUsage(objectIn(entry) ?? {})),
    emptyUsage(),
  );

/** Whether all of a session's usage is that of this turn. */
const isSame = (session: Usage, turn: JsonObject | undefined): boolean =>
  turn !== undefined && totalTokens(session) === totalTokens(messageUsage(turn));
