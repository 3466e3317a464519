import type { OutgoingHttpHeaders } from 'node:http';
import { type Answer, type AnswerBody, isEventStream } from '../answer.ts';
import { type ForwardOptions, type ForwardPlace, forwardSource } from '../forward/forward-source.ts';
import type { LedgerLine } from '../ledger.ts';
import type { Call, Source } from '../source.ts';
import { type CassetteWriter, createCassette, type RecordedExchange } from './cassette.ts';
import { cassetteSource, type GoLive } from './cassette-source.ts';
import { type LaneAddress, type LaneNames, laneNames, toNames } from './lane-names.ts';
import type { RecordedRequest } from './recorded-request.ts';
import { rewriteResponse } from './rewrite-response.ts';

export type RecordOptions = ForwardOptions & {
  /** The file to create, as JSON Lines: one exchange per line. Its folder must exist, and the file must not. */
  cassette: string;
  /**
   * Texts that are different in each session, and what stands for each in the cassette, such as
   * `{ '/tmp/x/home': '<home>' }`. The agent's working directory needs no entry when the agent reports it to its model.
   * The model's answers are recorded with the same names.
   */
  names?: LaneNames;
};

/** A response with more characters is passed on, but not recorded. */
const maxRecordedLength = 64 * 1024 * 1024;

/**
 * Forwards, and records every exchange that completes.
 * @throws GatewayError `cassette-unwritable`, and those of `forwardSource`
 */
export async function recordSource(
  options: RecordOptions,
  place: ForwardPlace & LaneAddress,
): Promise<Source> {
  const live = await forwardSource(options, place);
  const names = laneNames(place, options.names);
  let cassette: CassetteWriter;
  try {
    cassette = await createCassette(options.cassette, place.mask);
  } catch (error) {
    await live.close();
    throw error;
  }

  async function record(
    { line }: Call,
    request: RecordedRequest,
    named: LaneNames,
    goLive: GoLive,
  ): Promise<Answer> {
    // Removed at the end, which an answer that is cut off does not reach.
    line.flags.push('unrecorded');
    const startedAt = performance.now();
    const answer = await goLive(live);
    const body = recordBody(answer.body, line, startedAt, (chunks) => {
      const rewritten = rewriteResponse(chunks, isEventStream(answer), request.wire, toNames(named));
      const response = { status: answer.status, headers: recordedHeaders(answer.headers), chunks: rewritten };
      cassette.append({ ...request, response });
    });
    return { ...answer, body };
  }

  return cassetteSource(names, record, async () => {
    await live.close();
    await cassette.close();
  });
}

type Chunks = RecordedExchange['response']['chunks'];

async function* recordBody(
  body: AnswerBody,
  line: LedgerLine,
  startedAt: number,
  keep: (chunks: Chunks) => void,
): AsyncGenerator<string | Uint8Array> {
  const decoder = new TextDecoder();
  const chunks: Chunks = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length > maxRecordedLength) chunks.length = 0;
    else if (text !== '') chunks.push([Math.round(performance.now() - startedAt), text]);
  };
  for await (const chunk of body) {
    add(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    yield chunk;
  }
  add(decoder.decode());
  if (length > maxRecordedLength) return;
  keep(chunks);
  line.flags = line.flags.filter((flag) => flag !== 'unrecorded');
}

/** Headers that say how to read the answer, and when the agent may retry. */
const keptHeaders = ['content-type', 'retry-after', 'x-should-retry'];

const recordedHeaders = (headers: OutgoingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    keptHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
