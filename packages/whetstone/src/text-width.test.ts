import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import wrapAnsi from 'wrap-ansi';
import { textWidth, wrappedLines } from './text-width.ts';

test('every character has the width that string-width gives it', () => {
  const wrong: string[] = [];
  for (let code = 0x20; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code);
    if (textWidth(character) !== stringWidth(character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test('texts have the width and the lines of string-width and wrap-ansi', () => {
  const unit = fc.oneof(
    fc.constantFrom(' ', 'a', '-', '−', '…', '│', 'é', '\n'),
    fc.string({ unit: 'grapheme', maxLength: 1 }),
  );
  const text = fc.array(unit, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 80 }), (value, width) => {
      expect(textWidth(value)).toBe(stringWidth(value));
      expect(wrappedLines(value, width)).toEqual(wrapAnsi(value, width, { hard: true }).split('\n'));
    }),
  );
});
