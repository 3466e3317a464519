/** How many calls to one provider may be under way at once. Times are in milliseconds. */
export type RateOptions = {
  /** How many at most, and at the start; default 512. A provider's refusals lower the limit. */
  most?: number;
  /** Longest pause, even if the provider asks for more in `Retry-After`; default 60 000. */
  maxPauseMs?: number;
  /**
   * Longest time that a call waits for its turn; default 240 000, because clients give up after 5 to 10 minutes without
   * an answer. Then it gets a 429, and its client may retry.
   */
  maxWaitMs?: number;
};

/** More than one machine's agents make at once, so that calls only wait for a provider that has refused some. */
const defaultMost = 512;

/** The pause when a provider does not say how long to wait. It doubles with each refusal until a call succeeds. */
const firstPauseMs = 1000;

/** After so many rounds of good answers the limit grows by one. A round is as many calls as the limit. */
const roundsToGrow = 2;

/** What is remembered of a call under way: how often the limit had been cut when it was admitted. */
type UnderWay = { cuts: number; refused: boolean };

/**
 * The state of a provider's limit, without timers: calls arrive, are admitted in that order, and leave.
 * The limit starts at its highest value, halves when the provider refuses a call (multiplicative decrease), and then grows
 * by one after rounds of good answers (additive increase).
 * @param now a clock in milliseconds that never goes backwards.
 */
export function openConcurrencyLimit<Call>(
  { most = defaultMost, maxPauseMs = 60_000 }: RateOptions,
  now: () => number,
) {
  const waiting = new Set<Call>();
  const underWay = new Map<Call, UnderWay>();
  const highest = Math.max(1, most);
  let limit = highest;
  let successes = 0;
  let cuts = 0;
  let refusalsInARow = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  function cut(): void {
    // When fewer calls were under way than the limit allows, even those were too many.
    limit = Math.max(1, Math.floor(Math.min(limit, underWay.size) / 2));
    cuts += 1;
    refusalsInARow += 1;
    successes = 0;
  }

  function grow(): void {
    successes += 1;
    if (successes < roundsToGrow * limit) return;
    limit = Math.min(highest, limit + 1);
    successes = 0;
  }

  return {
    arrive(call: Call): void {
      waiting.add(call);
    },

    abandon(call: Call): void {
      waiting.delete(call);
    },

    /** The calls whose turn has come. From now on they are under way. */
    admit(): Call[] {
      if (now() < pausedUntil) return [];
      const admitted: Call[] = [];
      for (const call of waiting) {
        if (underWay.size >= limit) break;
        waiting.delete(call);
        underWay.set(call, { cuts, refused: false });
        admitted.push(call);
      }
      return admitted;
    },

    /** The provider refused a call that was admitted. `pauseMs` is absent when it did not say for how long. */
    refused(call: Call, pauseMs?: number): void {
      const state = underWay.get(call);
      // Calls that went out together are refused together, which is one reason to slow down, not several.
      if (state && state.cuts === cuts) cut();
      if (state) state.refused = true;
      const pause = pauseMs ?? firstPauseMs * 2 ** Math.max(0, refusalsInARow - 1);
      pausedUntil = Math.max(pausedUntil, now() + Math.min(maxPauseMs, Math.max(0, pause)));
    },

    /** A call that was admitted has ended; `ok`: with a good answer. */
    leave(call: Call, ok: boolean): void {
      const state = underWay.get(call);
      const wasFull = underWay.size >= limit;
      underWay.delete(call);
      if (!state || !ok || state.refused || state.cuts !== cuts) return;
      refusalsInARow = 0;
      if (wasFull) grow();
    },

    /**
     * When the pause ends, for calls that only wait for it: after `admit`, they wait for nothing else while there is room.
     * The clock is not read again. The pause may have ended since `admit` read it, and then nobody would wake these calls.
     */
    resumesAt: (): number | undefined =>
      waiting.size > 0 && underWay.size < limit ? pausedUntil : undefined,

    limit: (): number => limit,
  };
}
