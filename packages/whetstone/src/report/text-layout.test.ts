import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { paragraphLines, tableLines } from './text-layout.ts';

const text = fc
  .string({ unit: 'grapheme', maxLength: 200 })
  .map((value) => value.normalize().replace(/\s+/g, ' ').trim());
const width = fc.integer({ min: 12, max: 60 });
const withoutSpaces = (value: string): string => value.replaceAll(/\s/g, '');

test('a paragraph stays within its columns, and nothing is lost', () => {
  fc.assert(
    fc.property(text, width, (paragraph, columns) => {
      const lines = paragraphLines(paragraph, columns, '  ');
      expect(withoutSpaces(lines.join(''))).toBe(withoutSpaces(paragraph));
      expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
    }),
  );
});

test('a table aligns its columns, whatever the width of the characters', () => {
  const columns = [{ width: 6 }, { width: 4, align: 'right' }, { width: 5 }] as const;
  expect(
    tableLines(
      columns,
      [
        ['Äpfel', '1', 'sweet'],
        ['日本 語文', '12', ''],
        ['a-long-word', '123', '👨‍👩‍👧 x'],
      ],
      '> ',
    ),
  ).toEqual(['> Äpfel      1  sweet', '> 日本      12', '> 語文', '> a-long   123  👨‍👩‍👧 x', '> -word']);
  expect(tableLines(columns, [])).toEqual([]);
});
