import type { JsonObject } from '@whetstone/events';

/** A server-sent event whose name is the `type` of its data, as with OpenAI Responses and Anthropic. */
export const serverSentEvent = (data: JsonObject & { type: string }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** UTF-16 units per delta: so few that even a short reply streams in several deltas, like a model's. */
const deltaLength = 48;
/** Long texts have fewer, longer deltas, so that the framing stays a small part of the whole. */
const maxDeltas = 512;

/** Cuts a text into the pieces of a stream. Code points stay whole: some clients reject a half surrogate in JSON. */
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
