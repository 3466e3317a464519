import { RequestError } from '../wire/request-error.ts';
import { openConcurrencyLimit, type RateOptions } from './concurrency-limit.ts';

export type ProviderTurn = {
  /** How long the call waited, in milliseconds; 0 when it could go at once. */
  waitedMs: number;
  /** Reports that the provider refused the call, and how many milliseconds it asks clients to wait, if it said so. */
  refused(pauseMs?: number): void;
  /** Ends the turn, so that the next call can go; `ok`: the answer was good. */
  end(ok: boolean): void;
};

export type Turns = ReturnType<typeof openTurns>;

/** The turns at one provider, shared by all lanes: first come, first served. */
export function openTurns(options: RateOptions = {}) {
  const { maxWaitMs = 240_000 } = options;
  const limit = openConcurrencyLimit<{ go: () => void }>(options, () => performance.now());
  let resuming: NodeJS.Timeout | undefined;

  function advance(): void {
    for (const call of limit.admit()) call.go();
    clearTimeout(resuming);
    const at = limit.resumesAt();
    if (at !== undefined) resuming = setTimeout(advance, Math.ceil(at - performance.now()));
  }

  return {
    /**
     * Resolves when the call may be made.
     * @throws RequestError 429 when it has waited too long; the signal's reason when the signal aborts.
     */
    take(signal: AbortSignal): Promise<ProviderTurn> {
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<ProviderTurn>();
      const arrivedAt = performance.now();
      let isHeld = false;
      const call = {
        go() {
          stopWaiting();
          resolve({
            waitedMs: isHeld ? performance.now() - arrivedAt : 0,
            refused(pauseMs) {
              limit.refused(call, pauseMs);
              advance();
            },
            end(ok) {
              limit.leave(call, ok);
              advance();
            },
          });
        },
      };
      const giveUp = (reason: unknown): void => {
        stopWaiting();
        limit.abandon(call);
        reject(reason);
        advance();
      };
      const onAbort = (): void => giveUp(signal.reason);
      const deadline = setTimeout(() => giveUp(heldTooLong()), maxWaitMs);
      const stopWaiting = (): void => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort);
      limit.arrive(call);
      advance();
      isHeld = true;
      return promise;
    },
  };
}

const heldTooLong = (): RequestError =>
  new RequestError(
    429,
    "The gateway held this call back for too long: the provider's rate limit is reached.",
    { headers: { 'retry-after': '1' } },
  );

export type Rate = (host: string) => Turns;

/** @param options `false`: no call waits. */
export function openRate(options: RateOptions | false = {}): Rate {
  if (options === false) return () => unlimited;
  const providers = new Map<string, Turns>();
  return (host) => {
    const turns = providers.get(host) ?? openTurns(options);
    providers.set(host, turns);
    return turns;
  };
}

const unlimited: Turns = { take: async () => ({ waitedMs: 0, refused() {}, end() {} }) };
