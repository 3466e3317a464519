import type { JsonObject } from '@whetstone/events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { EventTooLarge, eventData, splitEvents, withEventData } from './event-splitter.ts';
import type { WireMeter } from './metered.ts';
import { meterResponse } from './response-meter.ts';

type Sent = { comment: string | undefined; name: string | undefined; data: JsonObject; indent: number };

const line = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(/[\r\n]/g, ' '));
const sent: fc.Arbitrary<Sent> = fc.record({
  comment: fc.option(line, { nil: undefined }),
  name: fc.option(line, { nil: undefined }),
  data: fc.record({ text: fc.string({ unit: anyCharacter }), count: fc.nat() }),
  // Above 0, the JSON takes several `data:` lines.
  indent: fc.nat(2),
});
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const start = fc.constantFrom('', '\uFEFF');
const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 });

function render({ comment, name, data, indent }: Sent, end: string): string {
  const lines = [
    ...(comment === undefined ? [] : [`:${comment}`]),
    ...(name === undefined ? [] : [`event: ${name}`]),
    ...JSON.stringify(data, null, indent)
      .split('\n')
      .map((each, index) => `data:${index % 2 === 0 ? ' ' : ''}${each}`),
    'retry: soon',
    'unknown',
  ];
  return [...lines, '', ''].join(end);
}

function* chunks(text: string, sizes: readonly number[]): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function split(text: string, sizes: readonly number[]): { events: string[]; rest: string } {
  const splitter = splitEvents();
  const events = [...chunks(text, sizes)].flatMap((chunk) => splitter.push(chunk));
  return { events, rest: splitter.rest() };
}

/** The data that a meter gets from a stream. */
function read(text: string, sizes: readonly number[]): JsonObject[] {
  const data: JsonObject[] = [];
  const meter: WireMeter = {
    read: (each) => data.push(each) > 0,
    hasEnd: () => true,
    result: () => ({ model: null, usage: null, finish: null, toolCalls: [] }),
  };
  const metered = meterResponse(meter, 'text/event-stream');
  for (const chunk of chunks(text, sizes)) metered.push(chunk);
  metered.result();
  return data;
}

describe('any stream of server-sent events, cut into any chunks', () => {
  test('passes through unchanged, one piece per event', () => {
    fc.assert(
      fc.property(start, fc.array(sent), lineEnd, cuts, (bom, all, end, sizes) => {
        const rendered = all.map((each) => render(each, end));
        const text = bom + rendered.join('');
        expect(split(text, sizes)).toEqual({
          events: rendered.map((each, index) => (index === 0 ? bom + each : each)),
          rest: rendered.length === 0 ? bom : '',
        });
      }),
    );
  });

  test('is read event by event, without comments, names and unknown fields', () => {
    fc.assert(
      fc.property(start, fc.array(sent), lineEnd, cuts, (bom, all, end, sizes) => {
        const text = bom + all.map((each) => render(each, end)).join('');
        const expected = all.map(({ data }) => data);
        expect(read(text, sizes)).toEqual(expected);
        expect(split(text, sizes).events.map((event) => JSON.parse(eventData(event)))).toEqual(expected);
      }),
    );
  });

  test('keeps a last event without its blank line, which is not metered', () => {
    fc.assert(
      fc.property(sent, sent, lineEnd, cuts, (first, last, end, sizes) => {
        const unfinished = render(last, end).slice(0, -2 * end.length);
        const text = render(first, end) + unfinished;
        expect(split(text, sizes)).toEqual({ events: [render(first, end)], rest: unfinished });
        expect(JSON.parse(eventData(unfinished))).toEqual(last.data);
        expect(read(text, sizes)).toEqual([first.data]);
      }),
    );
  });
});

test('a blank line with another line end than the lines around it ends an event', () => {
  const text = 'data: {"a":1}\n\r\ndata: {"a":2}\r\n\ndata: {"a":3}\n\n';
  expect(split(text, []).events.map(eventData)).toEqual(['{"a":1}', '{"a":2}', '{"a":3}']);
  expect(read(text, [])).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
});

test('an event with other data keeps its other lines', () => {
  const event = '\uFEFFdata: 1\r\n: comment\r\nevent: a\r\ndata: 2\r\n\r\n';
  expect(withEventData(event, '3')).toBe(': comment\nevent: a\ndata: 3\n\n');
});

test('an event over the limit is an error, wherever it is read', () => {
  const splitter = splitEvents(10);
  expect(splitter.push('data: 1\n\ndata: 0123')).toEqual(['data: 1\n\n']);
  expect(() => splitter.push('4567890123')).toThrow(EventTooLarge);
  const data: JsonObject[] = [];
  const meter: WireMeter = {
    read: (each) => data.push(each) > 0,
    hasEnd: () => true,
    result: () => ({ model: null, usage: null, finish: null, toolCalls: [] }),
  };
  const metered = meterResponse(meter, 'text/event-stream');
  metered.push('data: {"a":1}\n\ndata: {"a":"');
  const mebi = 'x'.repeat(1024 * 1024);
  for (let i = 0; i < 15; i++) metered.push(mebi);
  expect(() => {
    metered.push(mebi);
    metered.push(mebi);
  }).toThrow('The provider sent an event of more than 16777216 characters.');
  expect(data).toEqual([{ a: 1 }]);
});

test('a long event takes time in proportion to its length, even in small chunks', () => {
  const splitter = splitEvents();
  const piece = Buffer.from('x'.repeat(64));
  splitter.push('data: ');
  for (let i = 0; i < 100_000; i++) splitter.push(piece);
  expect(splitter.push('\n\n').map((event) => event.length)).toEqual([6_400_000 + 8]);
});
