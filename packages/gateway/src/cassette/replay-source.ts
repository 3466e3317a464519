import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type AnswerBody, isEventStream } from '../answer.ts';
import { type ForwardOptions, type ForwardPlace, forwardSource, metered } from '../forward/forward-source.ts';
import type { Call, ModelCall, Source } from '../source.ts';
import { finalStatus } from '../wire/provider-error.ts';
import { RequestError } from '../wire/request-error.ts';
import { meterResponse } from '../wire/response-meter.ts';
import { wires } from '../wire/wires.ts';
import { type RecordedExchange, readCassette } from './cassette.ts';
import { firstDifference } from './first-difference.ts';
import { callNames, fromNames, type LaneAddress, type LaneNames, laneNames } from './lane-names.ts';
import { type RecordedRequest, recordedCall, recordedModelCall } from './recorded-request.ts';
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
    request: RecordedRequest,
    call: Call,
    named: LaneNames,
    goLive: () => Promise<Answer>,
  ): Promise<Answer> {
    const exact = forked ? undefined : tape.take(request.key);
    if (exact) {
      call.line.flags.push('replayed');
      return recordedAnswer(exact, call, named, keepsTiming);
    }
    if (live) {
      forked = true;
      call.line.flags.push('forked');
      return goLive();
    }
    const nearest = tape.nearest(request);
    if (options.miss !== 'lenient' || !nearest) throw missing(tape, request, nearest);
    call.line.flags.push('replayed', 'nearest');
    tape.play(nearest);
    return recordedAnswer(nearest, call, named, keepsTiming);
  }

  const notLive = (): Promise<Answer> => Promise.reject(new Error('The replay has no provider.'));
  function answerModelCall(call: ModelCall, goLive: () => Promise<Answer>): Promise<Answer> {
    const named = callNames(call, names);
    return answer(recordedModelCall(call, named), call, named, goLive);
  }

  return {
    async reply(call) {
      return meteredAnswer(await answerModelCall(call, () => live?.reply(call) ?? notLive()), call);
    },
    countTokens: (call) => answerModelCall(call, () => live?.countTokens(call) ?? notLive()),
    other: (call) => answer(recordedCall(call, names), call, names, () => live?.other(call) ?? notLive()),
    async close() {
      await live?.close();
    },
  };
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

/** A live answer already has its own meter. */
function meteredAnswer(answer: Answer, call: ModelCall): Answer {
  if (answer.meter || answer.status >= 400) return answer;
  const meter = meterResponse(wires[call.wire].meter(), String(answer.headers['content-type'] ?? ''));
  const body: AnswerBody = metered(answer.body, meter);
  return { ...answer, meter, body };
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
