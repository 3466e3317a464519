import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { deltasOf } from '../wire/deltas.ts';
import type { WireProtocol } from '../wire/neutral.ts';

/** Characters, or events, after which the event loop runs other work. */
const SLICE_CHARACTERS = 64 * 1024;
const SLICE_EVENTS = 200;

/** Fields that differ in every event and say nothing about the reply. */
const VOLATILE = new Set(['sequence_number', 'obfuscation']);

/**
 * The body of a reply, in which each text that was streamed in pieces stands in one: the first event has all of it, and events
 * that only had the other pieces are left out. So a secret that a stream had cut up can be found. Comments are left out too. A body that is
 * not streamed stays as it is.
 */
export async function joinDeltas(body: string, isStream: boolean, wire: WireProtocol): Promise<string> {
  if (!isStream) return joinedList(body, wire);
  const events = await eventsIn(body);
  const values = await joined(
    events.map(({ data }) => parseJson(data)),
    wire,
  );
  return events
    .flatMap((event, index) => {
      const value = values[index];
      return value === LEFT_OUT ? [] : [eventText(event, value === undefined ? event.data : value)];
    })
    .join('');
}

/** Gemini streams a JSON list to clients that do not ask for events. */
async function joinedList(body: string, wire: WireProtocol): Promise<string> {
  if (wire !== 'gemini-generate-content' || !body.trimStart().startsWith('[')) return body;
  const list = parseJson(body);
  if (!Array.isArray(list)) return body;
  const values = await joined(list, wire);
  const kept = list.flatMap((before, index) => {
    const value = values[index];
    return value === LEFT_OUT ? [] : [value ?? JSON.stringify(before)];
  });
  return `[${kept.join(',\n')}]`;
}

/** What is not part of an event, such as garbage, is an event without a name here: its line is the data. */
async function eventsIn(text: string): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: ({ line }) => events.push({ data: line ?? '' }),
  });
  for (let start = 0; start < text.length; start += SLICE_CHARACTERS) {
    if (start > 0) await nextTurn();
    parser.feed(text.slice(start, start + SLICE_CHARACTERS));
  }
  parser.feed('\n\n'); // the blank line of the last event may be missing
  return events;
}

const eventText = ({ event, id }: EventSourceMessage, data: string): string =>
  [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...data.split('\n').map((line) => `data: ${line}`),
    '\n',
  ].join('\n');

const LEFT_OUT = Symbol('all of it is in an earlier event');

type Joined = { holder: JsonObject; field: string; texts: string[]; index: number };

/** Each value as JSON if it has changed; `undefined`: it stays as it is. Changes the values. */
async function joined(
  values: readonly (JsonValue | undefined)[],
  wire: WireProtocol,
): Promise<(string | typeof LEFT_OUT | undefined)[]> {
  const texts = new Map<string, Joined>();
  const firsts = new Set<string>();
  const changed = new Set<number>();
  const leftOut = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (index % SLICE_EVENTS === SLICE_EVENTS - 1) await nextTurn();
    if (!isJsonObject(value)) continue;
    let isFirst = false;
    const pieces = deltasOf(value, wire);
    for (const { text, holder, field } of pieces) {
      const piece = String(holder[field]);
      const known = texts.get(text);
      known?.texts.push(piece);
      if (!known) texts.set(text, { holder, field, texts: [piece], index });
      isFirst ||= !known;
      holder[field] = '';
    }
    if (pieces.length === 0) continue;
    const rest = withoutVolatile(value);
    changed.add(index);
    if (isFirst) firsts.add(rest);
    else if (firsts.has(rest)) leftOut.add(index);
  }
  for (const { holder, field, texts: pieces } of texts.values()) holder[field] = pieces.join('');
  return values.map((value, index) => {
    if (leftOut.has(index)) return LEFT_OUT;
    return changed.has(index) ? JSON.stringify(value) : undefined;
  });
}

const withoutVolatile = (value: JsonObject): string =>
  JSON.stringify(value, (name, field: unknown) => (VOLATILE.has(name) ? undefined : field));
