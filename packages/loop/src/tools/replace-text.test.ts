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
    text: '    uno\n      due\n',
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
