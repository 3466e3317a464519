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
 * The usage of turns, read from a transcript. A message has one line per block, and each line repeats the usage of the
 * whole message, so each message is counted once.
 */
export class TranscriptUsage {
  readonly #counted = new Set<string>();
  #turn: Usage | undefined;

  /** Usage of the current turn; `undefined` if no message reported any. */
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
