import { onAbort } from '../control/race-abort.ts';
import type { Input } from '../conversation/turn.ts';

/** The model's question that waits for the user's answer. There is at most one: tools that ask run one at a time. */
export class PendingQuestion {
  #resolve: ((answer: Input) => void) | undefined;

  get isOpen(): boolean {
    return this.#resolve !== undefined;
  }

  answer(answer: Input): void {
    this.#resolve?.(answer);
    this.#resolve = undefined;
  }

  /** Opens a question, synchronously. Resolves with its answer, and rejects when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<Input> {
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    using _abort = onAbort(signal, () => reject(new Error('The user did not answer.')));
    this.#resolve = resolve;
    try {
      return await promise;
    } finally {
      this.#resolve = undefined;
    }
  }
}
