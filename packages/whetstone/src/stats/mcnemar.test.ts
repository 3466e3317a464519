import { describe, expect, test } from 'vitest';
import { mcnemarExact } from './mcnemar.ts';

describe('mcnemarExact', () => {
  test.each([
    [2, 0, 0.5],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [7, 1, 0.0703],
    [8, 1, 0.0391],
    [9, 1, 0.0215],
    [10, 3, 0.0923],
  ])('%d gained, %d lost → %d', (gained, lost, pValue) => {
    expect(mcnemarExact(gained, lost)).toBeCloseTo(pValue, 4);
    expect(mcnemarExact(lost, gained)).toBe(mcnemarExact(gained, lost));
  });

  test('is 1 for an even split and for no pairs, and holds for thousands', () => {
    expect(mcnemarExact(4, 4)).toBe(1);
    expect(mcnemarExact(0, 0)).toBe(1);
    expect(mcnemarExact(3000, 3000)).toBe(1);
    // The normal approximation with continuity correction: z = (200 − 1)/√6000.
    expect(mcnemarExact(3100, 2900)).toBeCloseTo(0.0102, 3);
  });
});
