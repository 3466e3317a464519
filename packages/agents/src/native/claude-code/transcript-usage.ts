import type { JsonObject, StreamEvent } from '@whetstone/events';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { SessionRecord } from '../../kit/session-record.ts';
import { messageUsage } from './usage-buckets.ts';

/** Counts each message of a transcript once: a message has one line per block, each with the usage of the whole. */
export class TranscriptUsage {
  readonly #record: SessionRecord;
  readonly #counted = new Set<string>();

  constructor(record: SessionRecord) {
    this.#record = record;
  }

  message({ id, model, usage }: JsonObject): StreamEvent[] {
    const buckets = objectIn(usage);
    if (typeof id !== 'string' || !buckets || this.#counted.has(id)) return [];
    this.#counted.add(id);
    return this.#record.used(messageUsage(buckets), { model: textIn(model) });
  }
}
