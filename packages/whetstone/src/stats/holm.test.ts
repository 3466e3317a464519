import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holm } from './holm.ts';

const pValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });

describe('holm', () => {
  test('steps down from the smallest, and keeps the order', () => {
    expect(holm([0.04, 0.01, 0.03])).toEqual([0.06, 0.03, 0.06]);
    expect(holm([0.02])).toEqual([0.02]);
    expect(holm([])).toEqual([]);
  });

  test('lowers no p-value, keeps their ranks and stays below 1', () => {
    fc.assert(
      fc.property(pValues, (values) => {
        const adjusted = holm(values);
        for (const [i, value] of values.entries()) {
          const one = adjusted[i] ?? expect.fail('lost one');
          expect(one).toBeGreaterThanOrEqual(value);
          expect(one).toBeLessThanOrEqual(1);
          for (const [j, other] of values.entries()) {
            if (value < other) expect(one).toBeLessThanOrEqual(adjusted[j] ?? -1);
          }
        }
      }),
    );
  });
});
