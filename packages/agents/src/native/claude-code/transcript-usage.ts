import {
  addUsage,
  type EventEnvelope,
  type JsonObject,
  type StreamEvent,
  type Usage,
} from '@whetstone/events';
import { objectIn } from '../../kit/fields.ts';
import { messageUsage } from './usage-buckets.ts';

/**
 * What a transcript says that the turns used. A message has a line for each of its blocks, and each line repeats the
 * usage of the whole message: each message is counted once.
 */
export class TranscriptUsage {
  readonly #counted = new Set<string>();
  #turn: Usage | undefined;

  /** Of the current turn; `undefined` when no message of the turn had any. */
  get turn(): Usage | undefined {
    return this.#turn;
  }

  beginTurn(): void {
    this.#turn = undefined;
  }

  message({ id, model, usage }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const buckets = objectIn(usage);
    if (typeof id !== 'string' || !buckets || this.#counted.has(id)) return [];
    this.#counted.add(id);
    const call = messageUsage(buckets);
    this.#turn = this.#turn ? addUsage(this.#turn, call) : call;
    return [{ type: 'usage', usage: call, ...(typeof model === 'string' && { model }), ...envelope }];
  }
}
