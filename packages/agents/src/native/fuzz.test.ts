import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { streamEventSchema } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readNative } from './__fixtures__/read-native.ts';
import type { NativeAgent } from './native-agent.ts';
import { nativeAgents } from './native-agents.ts';

/** Recorded inputs: `<kind>/__fixtures__/<agent>-<version>/<name>.{stream,transcript}.{jsonl,json}`. */
function recorded(kind: string, source: 'stream' | 'transcript'): string[] {
  const pattern = `${kind}/__fixtures__/*/*.${source}.{jsonl,json}`;
  const files = globSync(pattern, { cwd: import.meta.dirname });
  expect(files, pattern).not.toEqual([]);
  return files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'));
}

const rows = Object.values<NativeAgent>(nativeAgents).flatMap(({ kind, stream, transcript }) => [
  ...(stream ? [{ kind, source: 'stream' as const, form: 'lines' as const, createMapper: stream.open }] : []),
  ...(transcript
    ? [
        {
          kind,
          source: 'transcript' as const,
          form: transcript.kind === 'printed' ? ('document' as const) : ('lines' as const),
          createMapper: transcript.createMapper,
        },
      ]
    : []),
]);

/** One assertion for all: there are hundreds of thousands. */
function expectEvents(events: readonly unknown[]): void {
  const misfits = events.filter((event) => !streamEventSchema.safeParse(event).success);
  expect(misfits).toEqual([]);
}

/** Values for a field whose types no agent writes there. */
const strangers = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 1e15, '', 'x', [], {}, [null, 1, 'a', {}], { type: 'text' }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A copy of an item in which one field, at any depth, has another value. */
function mutated(item: unknown, path: readonly number[], stranger: unknown): unknown {
  const [first = 0, ...rest] = path;
  if (typeof item !== 'object' || item === null) return stranger;
  const keys = Object.keys(item);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return stranger;
  const copy = (Array.isArray(item) ? [...item] : { ...item }) as Record<string, unknown>;
  if (rest.length === 0) copy[key] = stranger;
  else copy[key] = mutated(copy[key], rest, stranger);
  return copy;
}

const path = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 });

/** Lines that no agent writes: unknown items, JSON of other types, and invalid JSON. */
const foreign = fc.oneof(
  fc
    .record({ type: fc.constantFrom('whetstone.unknown', 'x.y'), deep: fc.jsonValue({ maxDepth: 2 }) })
    .map((item) => JSON.stringify(item)),
  fc.constantFrom('not json', '{"type":', '[1,2]', '"text"', 'null', '{"a":1}}', '\u2028{'),
);

describe.each(rows.filter(({ form }) => form === 'lines'))('$kind: $source', (row) => {
  // Without the one document that some agents print instead of lines.
  const texts = recorded(row.kind, row.source).filter((text) => text.startsWith('{"'));
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  const someLines = fc.shuffledSubarray(lines, { maxLength: Math.min(60, lines.length) });

  function checked(input: readonly (string | Buffer)[], chunkBytes?: number) {
    const bytes = Buffer.concat(input.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
    const reading = readNative(row.createMapper({ workdir: '/workspace' }), bytes, {
      ...present({ chunkBytes }),
    });
    expectEvents(reading.events);
    return reading;
  }
  const raws = ({ events }: ReturnType<typeof checked>): string[] =>
    events.flatMap((event) =>
      event.type === 'raw'
        ? [typeof event.native === 'string' ? event.native : JSON.stringify(event.native)]
        : [],
    );

  test('keeps unknown lines byte for byte and in their order, wherever they are', () => {
    fc.assert(
      fc.property(
        someLines,
        fc.array(fc.tuple(fc.nat(), foreign), { maxLength: 8 }),
        fc.integer({ min: 1, max: 4096 }),
        (known, strange, chunkBytes) => {
          const input = [...known];
          for (const [position, line] of strange) input.splice(position % (input.length + 1), 0, line);
          const reading = checked(input, chunkBytes);
          expect(reading.summary.lines).toBe(input.length);
          const expected = input.filter((line) => strange.some(([, other]) => other === line));
          const keptLines = raws(reading).filter((line) => expected.includes(line));
          expect(keptLines).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reads a stream that is cut at any byte up to the cut, and keeps the rest as raw', () => {
    const text = Buffer.from(`${lines.join('\n')}\n`);
    fc.assert(
      fc.property(fc.nat(text.length - 1), (end) => {
        const cut = text.subarray(0, end);
        const whole = cut.subarray(0, cut.lastIndexOf(0x0a) + 1);
        const rest = cut.subarray(whole.length);
        // What is still open at the end of a stream is an event of its own.
        const mapper = () => Object.assign(row.createMapper({ workdir: '/workspace' }), { end: () => [] });
        const { events, summary } = readNative(mapper(), cut);
        const before = readNative(mapper(), whole);
        const known = events.slice(0, before.events.length);
        if (!isDeepStrictEqual(known, before.events)) expect(known).toEqual(before.events);
        // If the cut is right after the last byte of a line, the rest is one more line.
        const isLine = lines.includes(rest.toString());
        if (rest.length > 0 && !isLine) {
          expect(events.slice(before.events.length)).toEqual([{ type: 'raw', native: rawOf(rest) }]);
          expect(summary.malformed).toBe(before.summary.malformed + 1);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('accepts fields of any type and garbage between the lines', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...lines), path, strangers), { maxLength: 30 }),
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        (changes, noise) => {
          const garbage = Buffer.concat([
            Buffer.from([0xff]),
            Buffer.from(noise.filter((byte) => byte !== 0x0a)),
          ]);
          const input = changes.map(([line, at, stranger]) =>
            JSON.stringify(mutated(JSON.parse(line), at, stranger)),
          );
          const reading = checked([...input, garbage]);
          expect(reading.summary.lines).toBe(input.length + 1);
          const lastRaw = reading.events.findLast(({ type }) => type === 'raw');
          expect(lastRaw).toEqual({ type: 'raw', native: rawOf(garbage) });
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe.each(rows.filter(({ form }) => form === 'document'))('$kind: $source', (row) => {
  const documents = recorded(row.kind, row.source);

  test('accepts fields of any type', () => {
    fc.assert(
      fc.property(fc.constantFrom(...documents), path, strangers, (document, at, stranger) => {
        const text = JSON.stringify(mutated(JSON.parse(document), at, stranger));
        const { events, summary } = readNative(row.createMapper({}), Buffer.from(text), { form: row.form });
        expectEvents(events);
        expect(summary.lines).toBe(1);
        if (summary.unknown + summary.malformed > 0) {
          const [first] = events;
          const native = first?.type === 'raw' ? first.native : undefined;
          expect(typeof native === 'string' ? native : JSON.stringify(native)).toBe(text);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('keeps a cut document as one raw event', () => {
    const [document = ''] = documents;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: document.trimEnd().length - 1 }), (end) => {
        const cut = Buffer.from(document).subarray(0, end);
        const { events } = readNative(row.createMapper({}), cut, { form: row.form });
        expect(events).toEqual([{ type: 'raw', native: rawOf(cut) }]);
      }),
      { numRuns: 30 },
    );
  });
});

function rawOf(bytes: Buffer): string | { base64: string } {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}
