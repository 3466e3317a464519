import type { Input } from '../conversation/turn.ts';

/** Messages that wait for the next model call, oldest first. */
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

  /** Takes all messages. */
  drain(): Input[] {
    return this.#messages.splice(0);
  }

  /** Calls `listener` for each message that arrives. Returns the way to stop. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
