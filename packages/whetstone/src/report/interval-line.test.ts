import { expect, test } from 'vitest';
import { extentOf, intervalLine } from './interval-line.ts';

test.each([
  [{ difference: 0.5, low: 0.2, high: 0.8 }, '          ┊ ├──●──┤'],
  [{ difference: 0, low: -1, high: 1 }, '├─────────●─────────┤'],
  [{ difference: -0.2, low: -0.6, high: 0.3 }, '    ├───●─┼──┤'],
  [{ difference: 0.4, low: 0.4, high: 0.4 }, '          ┊   ●'],
])('%j is drawn to scale', (drawn, line) => {
  expect(intervalLine(drawn, 1, 21)).toBe(line);
});

test('the scale is the smallest round one that holds every interval', () => {
  expect(extentOf([{ difference: 0.05, low: 0.01, high: 0.09 }])).toBe(0.1);
  expect(
    extentOf([
      { difference: 0, low: -0.3, high: 0.1 },
      { difference: 0, low: -0.1, high: 0.1 },
    ]),
  ).toBe(0.5);
  expect(extentOf([])).toBe(0.1);
});
