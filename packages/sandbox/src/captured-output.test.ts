import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CapturedOutput } from './captured-output.ts';

test('short output is kept whole, long output by its ends, whatever its chunks are', () => {
  const limit = 16;
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 6 }), (chunks) => {
      const captured = new CapturedOutput(limit);
      for (const chunk of chunks) captured.append(Buffer.from(chunk));
      const whole = Buffer.from(chunks.join(''));
      const text = captured.text();
      if (whole.length <= 2 * limit) {
        expect(text).toBe(whole.toString());
        return;
      }
      const [, head = '', dropped = '', tail = ''] =
        /^(.*)\n\[(\d+) bytes left out\]\n(.*)$/s.exec(text) ?? [];
      expect(Buffer.byteLength(head) + Number(dropped) + Buffer.byteLength(tail)).toBe(whole.length);
      expect(whole.toString().startsWith(head)).toBe(true);
      expect(whole.toString().endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head)).toBeGreaterThan(limit - 4);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(limit - 4);
    }),
  );
});

test('bytes that are no UTF-8 become U+FFFD', () => {
  const captured = new CapturedOutput(4);
  captured.append(Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x41]));
  expect(captured.text()).toBe('\ufffd\ufffd\ufffd\ufffd\n[6 bytes left out]\nA');
});
