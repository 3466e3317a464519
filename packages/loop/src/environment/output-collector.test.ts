import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputCollector } from './output-collector.ts';

function collect(text: string, chunkSize: number, limit: number): OutputCollector {
  const collector = new OutputCollector(limit);
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += chunkSize)
    collector.push(bytes.subarray(start, start + chunkSize));
  return collector;
}

test('output within the limit comes back as it was, however it was cut into chunks', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (text, chunkSize) => {
      const collector = collect(text, chunkSize, 1_000_000);
      expect(collector.text()).toBe(text);
      expect(collector.droppedBytes).toBe(0);
    }),
  );
});

test('output beyond the limit keeps head and tail, whole characters and a true count', () => {
  const unit = fc.constantFrom('a', 'é', '€', '😀');
  fc.assert(
    fc.property(
      fc.string({ unit, minLength: 100, maxLength: 300 }),
      fc.integer({ min: 1, max: 9 }),
      (text, chunkSize) => {
        const result = collect(text, chunkSize, 40).text();
        const [, head = '', count = '', tail = ''] =
          /^(.*)\n\[\.\.\. (\d+) bytes .*\]\n(.*)$/su.exec(result) ?? [];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head + tail) + Number(count)).toBe(Buffer.byteLength(text));
        expect(Buffer.byteLength(head)).toBeGreaterThan(16);
      },
    ),
  );
});
