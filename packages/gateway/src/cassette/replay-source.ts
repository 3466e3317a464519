import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type JsonValue } from '@whetstone/events';
import { type Answer, isEventStream } from '../answer.ts';
import { type ForwardOptions, type ForwardPlace, forwardSource } from '../forward/forward-source.ts';
import { meteredAnswer } from '../metered-answer.ts';
import type { Call, Source } from '../source.ts';
import { finalStatus } from '../wire/provider-error.ts';
import { RequestError } from '../wire/request-error.ts';
import { type RecordedExchange, readCassette } from './cassette.ts';
import { cassetteSource, type GoLive } from './cassette-source.ts';
import { fromNames, type LaneAddress, type LaneNames, laneNames } from './lane-names.ts';
import type { RecordedRequest } from './recorded-request.ts';
import { rewriteResponse } from './rewrite-response.ts';

export type ReplayOptions = {
  /** A recorded file: JSON Lines, plain or compressed with zstd (`.zst`). */
  cassette: string;
  /** Like `names` of the recording: the same names, with the texts of this session. */
  names?: LaneNames;
  /** `kept` replays the recorded pauses; default `collapsed`: no pauses. */
  timing?: 'collapsed' | 'kept';
} & Miss;

/**
 * The answer to a request that was not recorded. `strict`: an error that shows the first difference. `lenient`: the
 * answer of the nearest turn. `fork`: the provider's answer, also for every later request.
 */
export type Miss = { miss?: 'strict' | 'lenient' } | ({ miss: 'fork' } & ForwardOptions);

/**
 * Answers from a cassette.
 * @throws GatewayError `cassette-unreadable`, and with `fork` those of `forwardSource`
 */
export async function replaySource(
  options: ReplayOptions,
  place: ForwardPlace & LaneAddress,
): Promise<Source> {
  const tape = tapeOf(await readCassette(options.cassette));
  const live = options.miss === 'fork' ? await forwardSource(options, place) : undefined;
  const names = laneNames(place, options.names);
  const keepsTiming = options.timing === 'kept';
  let forked = false;

  async function answer(
    call: Call,
    request: RecordedRequest,
    named: LaneNames,
    goLive: GoLive,
  ): Promise<Answer> {
    const exact = forked ? undefined : tape.take(request.key);
    if (exact) {
      call.line.flags.push('replayed');
      return recordedAnswer(exact, call, named, keepsTiming);
    }
    if (live) {
      forked = true;
      call.line.flags.push('forked');
      return goLive(live);
    }
    const nearest = tape.nearest(request);
    if (options.miss !== 'lenient' || !nearest) throw missing(tape, request, nearest);
    call.line.flags.push('replayed', 'nearest');
    tape.play(nearest);
    return recordedAnswer(nearest, call, named, keepsTiming);
  }

  const source = cassetteSource(names, answer, async () => live?.close());
  return { ...source, reply: async (call) => meteredAnswer(await source.reply(call), call.wire) };
}

function recordedAnswer(
  { response, wire }: RecordedExchange,
  { signal }: Call,
  names: LaneNames,
  keepsTiming: boolean,
): Answer {
  const { status, headers } = response;
  const isStream = isEventStream({ headers });
  const chunks = rewriteResponse(response.chunks, isStream, wire, fromNames(names));
  return { status, headers, body: keepsTiming ? timed(chunks, signal) : chunks.map(([, text]) => text) };
}

async function* timed(
  chunks: RecordedExchange['response']['chunks'],
  signal: AbortSignal,
): AsyncGenerator<string> {
  let passed = 0;
  for (const [at, text] of chunks) {
    await delay(Math.max(0, at - passed), undefined, { signal });
    passed = at;
    yield text;
  }
}

function missing(tape: Tape, request: RecordedRequest, nearest: RecordedExchange | undefined): RequestError {
  const what = `${request.method} ${request.path} (after ${request.turn} replies)`;
  const difference = nearest
    ? (firstDifference(nearest.request, request.request) ??
      `the request is that of ${nearest.method} ${nearest.path}`)
    : `it holds no such request among its ${tape.size}`;
  return new RequestError(
    finalStatus(request.wire),
    `The cassette has no answer to ${what}. First difference: ${difference}`,
  );
}

/** Where two JSON values first differ, and both values there; `undefined` when they are equal. */
function firstDifference(recorded: JsonValue, now: JsonValue): string | undefined {
  return difference(recorded, now, 'request');
}

function difference(
  recorded: JsonValue | undefined,
  now: JsonValue | undefined,
  at: string,
): string | undefined {
  if (recorded === undefined) return `${at}: not recorded, now ${shown(now)}`;
  if (now === undefined) return `${at}: recorded ${shown(recorded)}, now missing`;
  if (typeof recorded === 'string' && typeof now === 'string') return textDifference(recorded, now, at);
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const length = Math.max(recorded.length, now.length);
    const items = Array.from({ length }, (_, index) =>
      difference(recorded[index], now[index], `${at}[${index}]`),
    );
    return items.find((found) => found !== undefined);
  }
  if (isJsonObject(recorded) && isJsonObject(now)) {
    return Object.keys({ ...recorded, ...now })
      .map((name) => difference(recorded[name], now[name], `${at}.${name}`))
      .find((found) => found !== undefined);
  }
  return recorded === now ? undefined : `${at}: recorded ${shown(recorded)}, now ${shown(now)}`;
}

function textDifference(recorded: string, now: string, at: string): string | undefined {
  if (recorded === now) return undefined;
  let start = 0;
  while (start < recorded.length && recorded[start] === now[start]) start += 1;
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, start - 20), start + 60).toWellFormed());
  return `${at}, character ${start}: recorded …${around(recorded)}…, now …${around(now)}…`;
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${text.slice(0, 80).toWellFormed()}…`;
}

type Tape = ReturnType<typeof tapeOf>;

/** The exchanges of a cassette, and which of them have been played. */
function tapeOf(exchanges: readonly RecordedExchange[]) {
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
