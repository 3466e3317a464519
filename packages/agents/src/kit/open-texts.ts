import type { EventEnvelope, StreamEvent } from '@whetstone/events';
import { messageEvents } from './mapped-events.ts';

/** Of one message, in characters. What comes after it is left out. */
const LIMIT = 1024 * 1024;

/** The texts of messages that are still streaming. The whole message, when it comes, replaces its pieces. */
export class OpenTexts {
  readonly #open = new Map<string, { pieces: string[]; length: number; envelope: EventEnvelope }>();

  /** `key`: what the message is known by: its id, or who writes it. */
  add(key: string, piece: string, envelope: EventEnvelope = {}): void {
    const text = this.#open.get(key) ?? { pieces: [], length: 0, envelope };
    this.#open.set(key, text);
    if (text.length < LIMIT) text.pieces.push(piece.slice(0, LIMIT - text.length));
    text.length += piece.length;
  }

  /** The message came whole. */
  close(key: string): void {
    this.#open.delete(key);
  }

  /** The message of a text that was cut off: that of one key, or all of them. */
  cutOff(key?: string): StreamEvent[] {
    const keys = key === undefined ? [...this.#open.keys()] : [key];
    return keys.flatMap((one) => {
      const { pieces = [], envelope = {} } = this.#open.get(one) ?? {};
      this.#open.delete(one);
      return messageEvents('assistant', pieces.join('')).map((event) => ({ ...event, ...envelope }));
    });
  }
}
