import { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from '@whetstone/errors';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { Emit } from '../events/session-event.ts';
import type { SessionOptions } from './session-options.ts';

/** Calls the option `persist` of a session. */
export class Persister {
  readonly #options: Pick<SessionOptions, 'persist'>;
  readonly #emit: Emit;
  readonly #calls = new AsyncLocalStorage<{ isRunning: boolean }>();

  constructor(options: Pick<SessionOptions, 'persist'>, emit: Emit) {
    this.#options = options;
    this.#emit = emit;
  }

  /** Must not reject. A `persist` that fails is reported. */
  async persist(snapshotNow: () => SessionSnapshot): Promise<void> {
    const call = { isRunning: true };
    try {
      await this.#calls.run(call, () => this.#options.persist?.(snapshotNow()));
    } catch (error) {
      const message = `persist failed: ${messageOf(error)}`;
      this.#emit('ERROR', { code: 'session-persist-failed', message });
    } finally {
      call.isRunning = false;
    }
  }

  /** Whether `persist` runs and has led here. Whoever then waits for the session to be done waits for itself. */
  get isCaller(): boolean {
    return this.#calls.getStore()?.isRunning === true;
  }
}
