import type { StreamEvent } from '@whetstone/events';

/** Of one message, in characters. What comes after it is left out. */
const LIMIT = 1024 * 1024;

type Kind = 'message' | 'thinking';

/** Joins the pieces of a message or a thought, which the agent does not close. */
export class Chunks {
  #kind: Kind | undefined;
  #id: string | undefined;
  #pieces: string[] = [];
  #length = 0;

  /** The event of the message before, if this piece begins another one. */
  add(kind: Kind, id: string | undefined, piece: string): StreamEvent[] {
    if (piece === '') return [];
    const isSame = kind === this.#kind && id === this.#id;
    const before = isSame ? [] : this.close();
    this.#kind = kind;
    this.#id = id;
    if (this.#length < LIMIT) this.#pieces.push(piece.slice(0, LIMIT - this.#length));
    this.#length += piece.length;
    return before;
  }

  close(): StreamEvent[] {
    const text = this.#pieces.join('');
    const kind = this.#kind;
    this.#kind = undefined;
    this.#pieces = [];
    this.#length = 0;
    if (kind === undefined) return [];
    return [kind === 'message' ? { type: 'message', role: 'assistant', text } : { type: 'thinking', text }];
  }
}
