import type { JsonObject } from '@whetstone/events';

/** One server-sent event whose name is the `type` of its data, as both OpenAI Responses and Anthropic do it. */
export const serverSentEvent = (data: JsonObject & { type: string }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** UTF-16 units in one delta: small enough that a short reply still streams in several, as a model's does. */
const deltaLength = 48;
/** Long texts come in fewer, longer deltas, so that their framing stays a small part of the whole. */
const maxDeltas = 512;

/** Cuts a text into the pieces of a stream. Code points stay whole: a half surrogate is no valid JSON for some clients. */
export function* textDeltas(text: string): Generator<string> {
  const length = Math.max(deltaLength, Math.ceil(text.length / maxDeltas));
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + length, text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
