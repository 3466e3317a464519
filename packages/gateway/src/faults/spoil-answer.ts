import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type AnswerBody, isEventStream } from '../answer.ts';

import { eventsOf, readWhole } from '../event-stream.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import { forever } from './before-answer.ts';
import type { Fault } from './fault.ts';
import { breakToolInputs, breakToolInputsOfEvent } from './malformed-tool-json.ts';

/** Applies faults to the body of a good answer. An error passes unchanged. */
export function spoilAnswer(
  answer: Answer,
  faults: readonly Fault[],
  wire: WireProtocol,
  signal: AbortSignal,
): Answer {
  if (answer.status >= 400) return answer;
  const read = isEventStream(answer) ? spoilEvents : spoilWhole;
  let { body } = answer;
  for (const fault of faults) body = read(body, fault, wire, signal);
  if (body === answer.body) return answer;
  // The length has changed.
  const { 'content-length': _, ...headers } = answer.headers;
  return { ...answer, headers, body };
}

const defaultAfterEvents = 2;
const garbage = Buffer.from('\u0000\ufffd{"}<html>502 Bad Gateway\n\n');

/** Faults that do not change a body leave it as it is. */
function spoilEvents(body: AnswerBody, fault: Fault, wire: WireProtocol, signal: AbortSignal): AnswerBody {
  switch (fault.kind) {
    case 'truncated':
      return firstEvents(body, fault.afterEvents);
    case 'garbage':
      return followedBy(firstEvents(body, fault.afterEvents), [garbage]);
    case 'hang-mid-stream':
      return followedBy(firstEvents(body, fault.afterEvents), silence(signal));
    case 'slow-tokens':
      return slowly(body, fault.ms, signal);
    case 'malformed-tool-json':
      return mapped(body, (event) => breakToolInputsOfEvent(event, wire));
    default:
      return body;
  }
}

function spoilWhole(body: AnswerBody, fault: Fault, wire: WireProtocol, signal: AbortSignal): AnswerBody {
  switch (fault.kind) {
    case 'truncated':
      return changed(body, firstHalf);
    case 'garbage':
      // The answer is read anyway, so that its usage is known.
      return changed(body, () => garbage);
    case 'hang-mid-stream':
      return followedBy(changed(body, firstHalf), silence(signal));
    case 'malformed-tool-json':
      return changed(body, (whole) => breakToolInputs(whole.toString(), wire));
    default:
      return body;
  }
}

async function* firstEvents(body: AnswerBody, count = defaultAfterEvents): AsyncGenerator<string> {
  if (count <= 0) return;
  let passed = 0;
  for await (const event of eventsOf(body)) {
    yield event;
    passed += 1;
    if (passed >= count) return;
  }
}

async function* followedBy(first: AnswerBody, second: AnswerBody): AsyncGenerator<string | Uint8Array> {
  yield* first;
  yield* second;
}

async function* silence(signal: AbortSignal): AsyncGenerator<string> {
  yield await forever(signal);
}

async function* slowly(body: AnswerBody, ms: number, signal: AbortSignal): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) {
    await delay(ms, undefined, { signal });
    yield event;
  }
}

async function* mapped(body: AnswerBody, change: (event: string) => string): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) yield change(event);
}

const firstHalf = (whole: Buffer): Buffer => whole.subarray(0, Math.floor(whole.length / 2));

async function* changed(
  body: AnswerBody,
  change: (whole: Buffer) => string | Uint8Array,
): AsyncGenerator<string | Uint8Array> {
  yield change(await readWhole(body));
}
