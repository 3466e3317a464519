import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { BoundedOutput } from './bounded-output.ts';

/** Cuts bytes into chunks of the given sizes, again and again, and collects them. */
function collect(bytes: Buffer, sizes: readonly number[], limit: number): BoundedOutput {
  const output = new BoundedOutput(limit);
  for (let start = 0, index = 0; start < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    output.append(bytes.subarray(start, start + size));
    start += size;
  }
  return output;
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 });

test.each([
  ['any characters', fc.string({ unit: anyCharacter, maxLength: 120 })],
  ['long characters', fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 300 })],
  ['graphemes', fc.string({ unit: 'grapheme' })],
])('short output is kept whole, long output by its ends, whatever its chunks are: %s', (_, texts) => {
  fc.assert(
    fc.property(texts, chunkSizes, fc.integer({ min: 16, max: 41 }), (text, sizes, limit) => {
      const whole = Buffer.from(text);
      const output = collect(whole, sizes, limit);
      expect(output.totalBytes).toBe(whole.length);
      expect(output.droppedBytes).toBe(Math.max(0, whole.length - limit));
      if (whole.length <= limit) {
        expect(output.bytes()).toEqual(whole);
        expect(output.text()).toBe(text);
        return;
      }
      const [, head = '', missing = '', tail = ''] =
        /^(.*)\n\[(\d+) bytes left out\]\n(.*)$/s.exec(output.text()) ?? [];
      expect(Buffer.byteLength(head + tail) + Number(missing)).toBe(whole.length);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      // A cut costs at most the rest of one character.
      expect(Buffer.byteLength(head)).toBeGreaterThan(Math.ceil(limit / 2) - 4);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(Math.floor(limit / 2) - 4);
    }),
  );
});

test('bytes that are not UTF-8 become U+FFFD', () => {
  const output = new BoundedOutput(8);
  output.append(Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x41]));
  expect(output.text()).toBe('\ufffd\ufffd\ufffd\ufffd\n[6 bytes left out]\nA');
});
