import { isJsonObject, type JsonObject, parseJson } from '@whetstone/events';
import type { AnswerBody } from '../answer.ts';
import { eventsOf } from '../event-stream.ts';
import { eventData } from '../wire/event-splitter.ts';
import { objectAt } from '../wire/json-reading.ts';
import type { NeutralRequest } from '../wire/neutral.ts';

/** A streamed chat completion reports its usage only on request, and some agents do not ask for it. */
export const lacksUsage = ({ wire, stream, raw }: NeutralRequest): boolean =>
  wire === 'openai-chat-completions' && stream && objectAt(raw, 'stream_options').include_usage !== true;

/** The request, which now asks for usage. */
export const askForUsage = (raw: JsonObject): JsonObject => ({
  ...raw,
  stream_options: { ...objectAt(raw, 'stream_options'), include_usage: true },
});

/** The stream without the chunk that only reports usage: an agent that did not ask for it may fail on it. */
export async function* withoutUsageChunk(body: AnswerBody): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) if (!isUsageChunk(event)) yield event;
}

function isUsageChunk(event: string): boolean {
  if (!event.includes('"usage"')) return false;
  const data = parseJson(eventData(event));
  if (!isJsonObject(data) || !isJsonObject(data.usage)) return false;
  return Array.isArray(data.choices) && data.choices.length === 0;
}
