import { expect, test } from 'vitest';
import { median } from './median.ts';

test('median', () => {
  expect(median([])).toBeNull();
  expect(median([3])).toBe(3);
  expect(median([10, 2, 9])).toBe(9);
  expect(median([10, 2, 9, 1])).toBe(5.5);
});
