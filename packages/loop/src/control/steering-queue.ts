import type { Input } from '../conversation/turn.ts';

/** The messages of `steer()` that the model has not read yet, oldest first. */
export class SteeringQueue {
  readonly #messages: Input[];
  readonly #listeners = new Set<() => void>();

  constructor(messages: readonly Input[] = []) {
    this.#messages = [...messages];
  }

  get messages(): readonly Input[] {
    return this.#messages;
  }

  push(message: Input): void {
    this.#messages.push(message);
    for (const listener of [...this.#listeners]) listener();
  }

  drain(): Input[] {
    return this.#messages.splice(0);
  }

  /** Calls `listener` whenever a message arrives. Returns a function that removes the listener. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
