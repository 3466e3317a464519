import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, isEventStream } from '../answer.ts';
import { type ForwardOptions, type ForwardPlace, forwardSource } from '../forward/forward-source.ts';
import { meteredAnswer } from '../metered-answer.ts';
import type { Call, Source } from '../source.ts';
import { finalStatus } from '../wire/provider-error.ts';
import { RequestError } from '../wire/request-error.ts';
import { type RecordedExchange, readCassette } from './cassette.ts';
import { cassetteSource, type GoLive } from './cassette-source.ts';
import { firstDifference } from './first-difference.ts';
import { fromNames, type LaneAddress, type LaneNames, laneNames } from './lane-names.ts';
import type { RecordedRequest } from './recorded-request.ts';
import { rewriteResponse } from './rewrite-response.ts';
import { type Tape, tapeOf } from './tape.ts';

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
