import type { RecordedExchange } from './cassette.ts';
import type { RecordedRequest } from './recorded-request.ts';

export type Tape = ReturnType<typeof tapeOf>;

/** The exchanges of a cassette, and which of them have been played. */
export function tapeOf(exchanges: readonly RecordedExchange[]) {
  const byKey = Map.groupBy(exchanges, (exchange) => exchange.key);
  const played = new Set<RecordedExchange>();

  function distance(exchange: RecordedExchange, request: RecordedRequest): number {
    return Math.abs(exchange.turn - request.turn) + (played.has(exchange) ? 0.5 : 0);
  }

  return {
    size: exchanges.length,
    /** Plays the next exchange with this key, or the last one again when all have been played. */
    take(key: string): RecordedExchange | undefined {
      const recorded = byKey.get(key);
      const exchange = recorded?.find((each) => !played.has(each)) ?? recorded?.at(-1);
      if (exchange) played.add(exchange);
      return exchange;
    },
    /** The exchange of the same kind with the nearest turn; unplayed ones first. */
    nearest(request: RecordedRequest): RecordedExchange | undefined {
      const candidates = exchanges.filter(
        ({ wire, method, main, path }) =>
          wire === request.wire &&
          method === request.method &&
          main === request.main &&
          actionOf(path) === actionOf(request.path),
      );
      return candidates.reduce<RecordedExchange | undefined>(
        (best, each) => (best && distance(best, request) <= distance(each, request) ? best : each),
        undefined,
      );
    },
    play: (exchange: RecordedExchange) => played.add(exchange),
  };
}

/** What a path asks for: its end, without the model that is in Gemini's paths. */
const actionOf = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf(':')) + 1);
