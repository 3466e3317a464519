import { LONGEST_TIMER_MS, monotonicMs } from '../control/clock.ts';
import { onAbort } from '../control/race-abort.ts';

/** A model need not take its listeners off a signal, so no signal serves more calls than that. */
const CALLS_PER_SIGNAL = 64;

/**
 * Watches over the model calls of one submit, one after the other: each is aborted with the submit, and when its model stays
 * silent for too long. Signal and timer serve many calls, because making them anew is a fifth of the work of a round, and
 * the timer is left to run while a model speaks, because it speaks many times per round.
 */
export class CallGuard implements Disposable {
  readonly #outer: AbortSignal;
  readonly #listening: Disposable;
  #controller = new AbortController();
  /** Of that controller, and kept because Node checks the controller each time that somebody asks it. */
  #signal = this.#controller.signal;
  #calls = 0;
  #isOpen = false;
  #idleTimeoutMs = 0;
  /** When the model was last heard, by `monotonicMs()`. */
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    this.#listening = onAbort(outer, () => this.#controller.abort(outer.reason));
  }

  /** Begins a call. `idleTimeoutMs` 0: it may stay silent for ever. */
  begin(idleTimeoutMs: number): void {
    this.#calls += 1;
    const isUsedUp = this.#calls > CALLS_PER_SIGNAL || this.signal.aborted;
    if (isUsedUp && !this.#outer.aborted) {
      this.#controller = new AbortController();
      this.#signal = this.#controller.signal;
      this.#calls = 1;
    }
    this.#isOpen = true;
    this.refresh();
    if (idleTimeoutMs === this.#idleTimeoutMs && this.#timer) return;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#watch(idleTimeoutMs);
  }

  /** Aborts with the call. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** The model has sent something. */
  refresh(): void {
    this.#heardAt = monotonicMs();
  }

  end(): void {
    this.#isOpen = false;
  }

  [Symbol.dispose](): void {
    this.end();
    clearTimeout(this.#timer);
    this.#listening[Symbol.dispose]();
  }

  /** Looks after so many milliseconds, and again as long as a call is open. */
  #watch(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (milliseconds <= 0) return;
    const look = () => {
      this.#timer = undefined;
      if (!this.#isOpen) return;
      const left = this.#heardAt + this.#idleTimeoutMs - monotonicMs();
      if (left <= 0) this.#controller.abort();
      else this.#watch(Math.ceil(left));
    };
    this.#timer = setTimeout(look, Math.min(milliseconds, LONGEST_TIMER_MS));
  }
}
