import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';

const { visibleText }: { visibleText: (text: string) => string } = await import(
  new URL('./visible-text.js', import.meta.url).href
);

test('no text keeps a character that hides, reorders or controls', () => {
  const hidden = fc.constantFrom(
    '\u001b',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u0000',
    '\u009b',
    '\ud800',
    '\u{e0041}',
    '\r',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: anyCharacter }), hidden)), (parts) => {
      const shown = visibleText(parts.join(''));
      expect(shown.isWellFormed()).toBe(true);
      expect(shown.replace(/[\n\t]/g, '')).not.toMatch(
        /\p{Cc}|\p{Bidi_Control}|[\u200b\u{e0000}-\u{e007f}]/u,
      );
    }),
  );
});

test('plain text stays unchanged in every script', () => {
  const plain = 'const a = 1;\n\tнет 日本語 🙂 ünïcödé <b>&amp;</b>\n';
  expect(visibleText(plain)).toBe(plain);
});

test('a hidden character appears as its number', () => {
  expect(visibleText('a\u202eb\u0000c\u{e0041}\r\nd\re')).toBe('a⟨U+202E⟩b⟨U+0000⟩c⟨U+E0041⟩\nd⟨U+000D⟩e');
});
