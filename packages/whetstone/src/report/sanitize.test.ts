import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { oneLine, plainText } from './sanitize.ts';

describe('plainText', () => {
  test.each([
    ['colours and cursor moves', '\u001b[31mred\u001b[0m \u001b[2Jcleared \u009b1mbold', 'red cleared bold'],
    ['a window title', 'a\u001b]0;a title\u0007b', 'ab'],
    [
      'a link, of which the text stays',
      '\u001b]8;;http://evil.example\u001b\\text\u001b]8;;\u001b\\',
      'text',
    ],
    ['a clipboard write in C1 form', 'a\u009d52;c;ZXZpbA==\u009cb', 'ab'],
    ['a device control string', 'a\u001bPq#0;2;0;0;0\u001b\\b', 'ab'],
    ['an unterminated string, to the end of its line', 'a\u001b]0;title\nb', 'a\nb'],
    ['control characters', 'a\u0000\u0008\u007f\u0085b\tc', 'ab\tc'],
    ['progress written over itself', '10 %\r20 %\r\ndone', '10 %\n20 %\ndone'],
    ['direction overrides and hidden characters', 'a\u202eb\u2066c\u2069\u200bd\u{e0041}', 'abcd'],
    ['half a character', 'a\ud800b', 'a\ufffdb'],
  ])('takes out %s', (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  test('keeps text of every language', () => {
    const text = 'Grüße, 日本語, שלום, 👩‍💻 e\u0301';
    expect(plainText(text)).toBe(text);
  });

  test('leaves nothing that a terminal acts on', () => {
    const nasty = fc.string({
      unit: fc.constantFrom(
        '\u001b',
        '[',
        ']',
        '0',
        ';',
        'm',
        'P',
        '\u0007',
        '\\',
        '\u009b',
        '\u009d',
        '\u009c',
        '\r',
        '\n',
        'x',
      ),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: anyCharacter })), (text) => {
        expect(plainText(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
        expect(plainText(text).isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('oneLine', () => {
  test('is one line, cut at whole characters', () => {
    expect(oneLine(' a\n\tb  c ')).toBe('a b c');
    expect(oneLine('👩👩👩👩', 3)).toBe('👩👩…');
    expect(oneLine('abc', 3)).toBe('abc');
  });

  test('is as short as asked for whatever comes in', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 200 }),
        fc.integer({ min: 1, max: 20 }),
        (text, limit) => {
          const line = oneLine(text, limit);
          expect(Array.from(line).length).toBeLessThanOrEqual(limit);
          expect(line).not.toContain('\n');
        },
      ),
    );
    expect(oneLine('\u001b[1m'.repeat(1_000_000), 10)).toBe('…');
  });
});
