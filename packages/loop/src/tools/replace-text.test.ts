import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceText } from './replace-text.ts';

const once = (text: string, oldText: string, newText: string) => replaceText(text, oldText, newText, false);

test('an exact match wins and is replaced as it stands, special patterns included', () => {
  expect(once('a $& b', '$&', "$' $1")).toEqual({
    kind: 'replaced',
    text: "a $' $1 b",
    count: 1,
    level: 'exact',
  });
});

test('a text that occurs more than once is ambiguous, unless all are wanted', () => {
  expect(once('x x x', 'x', 'y')).toEqual({ kind: 'ambiguous', count: 3 });
  expect(once('a\na\na\n', 'a\na\n', 'b\n'), 'overlapping').toEqual({ kind: 'ambiguous', count: 2 });
  expect(once('a\r\na\r\na\r\nb', 'a\na\n', 'b\n')).toEqual({ kind: 'ambiguous', count: 2 });
  expect(once(' a\n a\n a\n', 'a\na\n', 'b\n')).toEqual({ kind: 'ambiguous', count: 2 });
  expect(replaceText('x x x', 'x', 'y', true)).toMatchObject({ text: 'y y y', count: 3 });
});

test('line ends of the file are found and kept', () => {
  expect(once('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny')).toMatchObject({
    text: 'x\r\ny\r\nc\r\n',
    level: 'line ends',
  });
  expect(once('a\r\nb\r\n', 'b', 'x\ny')).toMatchObject({ text: 'a\r\nx\r\ny\r\n', level: 'exact' });
  expect(once('a\nb\n', 'a\r\nb', 'c')).toMatchObject({ text: 'c\n', level: 'line ends' });
  expect(once('k\r\na1\r\nb\r\nz', '1\nb', '2\nb')).toMatchObject({
    text: 'k\r\na2\r\nb\r\nz',
    level: 'line ends',
  });
});

test('trailing whitespace, indentation and punctuation are ignored in this order, uniquely at each level', () => {
  expect(once('if x:  \n  y\n', 'if x:\n  y', 'ok')).toMatchObject({
    text: 'ok\n',
    level: 'trailing whitespace',
  });
  expect(once('    one\n    two\n', 'one\ntwo', 'uno\n  due')).toMatchObject({
    text: '    uno\n        due\n',
    level: 'indentation',
  });
  expect(once('  one\n  two\n', '      one\n      two', '      uno')).toMatchObject({ text: '  uno\n' });
  expect(once('say(“hi”) – now\n', 'say("hi") - now', 'done')).toMatchObject({
    text: 'done\n',
    level: 'punctuation',
  });
  expect(once(' a \n a \n', 'a \n', 'b').kind).toBe('ambiguous');
});

test('a wanted line break at the end is part of the match', () => {
  expect(once('  one \n  two\n', 'one\n', '')).toMatchObject({ text: '  two\n' });
});

test('blank text and absent text do not match', () => {
  expect(once('a\n\n\nb', ' \n ', 'x')).toEqual({ kind: 'missing' });
  expect(once('abc', 'abd', 'x')).toEqual({ kind: 'missing' });
});

test('replacing back gives the original, whatever the text', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', 'é') });
  fc.assert(
    fc.property(fc.array(line), fc.array(line), fc.constantFrom('\n', '\r\n'), (before, after, end) => {
      const text = [...before, 'NEEDLE', ...after].join(end);
      const there = once(text, 'NEEDLE', 'THREAD');
      expect(there.kind === 'replaced' && once(there.text, 'THREAD', 'NEEDLE')).toMatchObject({ text });
    }),
  );
});

test('lines that both texts have keep their bytes: trailing blanks, quotes, line ends', () => {
  expect(once('a “x”  \r\nb\nc\t\r\nd\n', 'a "x"\nb\nc', 'a "x"\nB\nc')).toMatchObject({
    text: 'a “x”  \r\nB\r\nc\t\r\nd\n',
  });
});

test.each([
  [
    'a quotation in spaces of a file with tabs',
    '\tif a:\n\t\tb()\n',
    '    if a:\n        b()',
    '    if a:\n        c()\n    d()',
    '\tif a:\n\t\tc()\n\td()\n',
  ],
  [
    'new lines with an indentation that no line of the match has',
    'all:\n\tcc  a.c\n',
    'all: \n\tcc  a.c ',
    'all: \n    ld a.o\n\tcc  a.c ',
    undefined,
  ],
  [
    'a recipe of a Makefile',
    'all:\n\tcc a.c \n',
    'all:\n    cc a.c',
    'all:\n    cc a.c\n    ld a.o',
    'all:\n\tcc a.c \n\tld a.o\n',
  ],
  [
    'a quotation with two spaces per level of a file with four',
    'f:\n    a\n    if b:\n        c\n',
    '  a\n  if b:\n    c',
    '  a\n  if d:\n    c\n    e',
    'f:\n    a\n    if d:\n        c\n        e\n',
  ],
  [
    'a text that begins in the middle of a line',
    '\tif a:\n\t\tb() \n',
    'if a:\n\t\tb()',
    'if z:\n\t\tb()',
    '\tif z:\n\t\tb() \n',
  ],
  [
    'a comment block',
    '\t/**\n\t * a\n\t */\n\tx\n',
    '  /**\n   * a\n   */\n  x',
    '  /**\n   * b\n   */\n  y',
    '\t/**\n\t * b\n\t */\n\ty\n',
  ],
  ['lines of different shifts', '\ta\n\t\tb\n', '  a\n      b', '  a\n   c', undefined],
])('indentation is translated or refused: %s', (_case, text, oldText, newText, expected) => {
  const replaced = once(text, oldText, newText);
  if (expected === undefined) expect(replaced).toMatchObject({ kind: 'indentation', firstLine: 1 });
  else expect(replaced).toMatchObject({ kind: 'replaced', text: expected });
});

test('an accepted edit leaves other lines as they are and indents new ones as the file does', () => {
  const units = ['\t', '  ', '    ', '        '];
  const line = fc.record({ level: fc.nat(4), word: fc.stringMatching(/^[a-z]{3}$/) });
  const newLine = fc.record({ level: fc.nat(4), word: fc.stringMatching(/^[A-Z]{3}$/) });
  const cases = fc.record({
    lines: fc.uniqueArray(line, { minLength: 3, maxLength: 12, selector: ({ word }) => word }),
    // No line of the file: of two equal lines, either may be the new one.
    fresh: fc.array(newLine, { minLength: 1, maxLength: 3 }),
    at: fc.nat(),
    length: fc.integer({ min: 1, max: 5 }),
    own: fc.constantFrom(...units),
    theirs: fc.constantFrom(...units),
    blanks: fc.constantFrom('', ' ', '\t'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
  });
  fc.assert(
    fc.property(cases, ({ lines, fresh, at, length, own, theirs, blanks, lineEnd }) => {
      const inFile = lines.map(({ level, word }) => own.repeat(level) + word + blanks);
      const start = at % lines.length;
      const quoted = lines.slice(start, start + length);
      const theirLines = (some: typeof lines) => some.map(({ level, word }) => theirs.repeat(level) + word);
      const given = theirLines(quoted);
      const wanted = [...given.slice(0, 1), ...theirLines(fresh), ...given.slice(1)];
      const replaced = once(inFile.join(lineEnd), given.join('\n'), wanted.join('\n'));
      if (replaced.kind !== 'replaced' || replaced.level === 'exact' || replaced.level === 'line ends')
        return;
      const after = replaced.text.split(lineEnd);
      const added = after.splice(start + 1, fresh.length);
      expect(after).toEqual(inFile);
      const isTabs = inFile.slice(start, start + length).some((text) => text.startsWith('\t'));
      const isSpaces = inFile.slice(start, start + length).some((text) => text.startsWith(' '));
      for (const text of added)
        expect(text).toMatch(isTabs ? /^\t*\w/ : isSpaces ? /^ *\w/ : /^(?:\t*| *)\w/);
    }),
    { numRuns: 500 },
  );
});

test('the levels of a file in tabs survive a quotation in spaces', () => {
  const level = fc.nat(3);
  fc.assert(
    fc.property(
      fc.array(level, { minLength: 1, maxLength: 6 }),
      level,
      fc.constantFrom(2, 4, 8),
      (levels, extra, width) => {
        const all = [0, ...levels, ...levels.map((_level, index) => (index % 2) + 1)];
        const own = (depth: number, index: number) => `${'\t'.repeat(depth)}line${index} `;
        const theirs = (depth: number, index: number) => `${' '.repeat(depth * width)}line${index}`;
        const fresh = Math.min(extra, 3);
        const replaced = once(
          all.map(own).join('\n'),
          all.map(theirs).join('\n'),
          [...all.map(theirs), theirs(fresh, 99)].join('\n'),
        );
        expect(replaced).toMatchObject({ text: [...all.map(own), own(fresh, 99).trimEnd()].join('\n') });
      },
    ),
  );
});
