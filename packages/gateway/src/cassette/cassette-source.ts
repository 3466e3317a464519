import type { Answer } from '../answer.ts';
import type { Call, ModelCall, Source } from '../source.ts';
import { callNames, type LaneNames } from './lane-names.ts';
import { type RecordedRequest, recordedCall, recordedModelCall } from './recorded-request.ts';

export type GoLive = (live: Source) => Promise<Answer>;

/** A source that answers each call with the help of a cassette, which has the call as `request` with the names `named`. */
export function cassetteSource(
  names: LaneNames,
  answer: (call: Call, request: RecordedRequest, named: LaneNames, goLive: GoLive) => Promise<Answer>,
  close: Source['close'],
): Source {
  function answerModelCall(call: ModelCall, goLive: GoLive): Promise<Answer> {
    const named = callNames(call, names);
    return answer(call, recordedModelCall(call, named), named, goLive);
  }
  return {
    reply: (call) => answerModelCall(call, (live) => live.reply(call)),
    countTokens: (call) => answerModelCall(call, (live) => live.countTokens(call)),
    other: (call) => answer(call, recordedCall(call, names), names, (live) => live.other(call)),
    close,
  };
}
