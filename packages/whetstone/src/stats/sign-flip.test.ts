import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mcnemarExact } from './mcnemar.ts';
import { seededRandom } from './seeded-random.ts';
import { signFlipTest } from './sign-flip.ts';

const VECTOR = [1, 0, 0.5, 1, -0.5, 0, 1, 0.5, 0, 0.25];

describe('signFlipTest', () => {
  test('counts every sign pattern of a small sample', () => {
    expect(signFlipTest(VECTOR)).toEqual({ pValue: 80 / 1024, method: 'exact' });
  });

  test('is 1 when nothing differs', () => {
    expect(signFlipTest([0, 0, 0])).toEqual({ pValue: 1, method: 'exact' });
    expect(signFlipTest([])).toEqual({ pValue: 1, method: 'exact' });
  });

  test('is McNemar’s test when all differences have one size, at any number of tasks', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.nat(60), (gained, lost, same) => {
        const differences = [...fill(gained, 0.5), ...fill(lost, -0.5), ...fill(same, 0)];
        expect(signFlipTest(differences)).toEqual({ pValue: mcnemarExact(gained, lost), method: 'exact' });
      }),
    );
  });

  test('agrees with plain enumeration', () => {
    const difference = fc.integer({ min: -6, max: 6 }).map((value) => value / 6);
    fc.assert(
      fc.property(fc.array(difference, { maxLength: 10 }), (differences) => {
        expect(signFlipTest(differences).pValue).toBeCloseTo(enumerated(differences), 12);
      }),
    );
  });

  test('depends neither on the order of tasks nor on which arm is which', () => {
    const difference = fc.integer({ min: -3, max: 3 }).map((value) => value / 3);
    fc.assert(
      fc.property(fc.array(difference, { maxLength: 30 }), (differences) => {
        const options = { draws: 200 };
        const { pValue } = signFlipTest(differences, options);
        expect(signFlipTest(differences.toReversed(), options).pValue).toBe(pValue);
        expect(
          signFlipTest(
            differences.map((value) => -value),
            options,
          ).pValue,
        ).toBe(pValue);
      }),
    );
  });

  test('samples the patterns of a large sample, close to the exact value and the same for the same seed', () => {
    // Twenty-one differences are one more than are enumerated. The added one changes the exact value only a little.
    const twenty = Array.from({ length: 20 }, (_, i) => ((i % 5) - 1.4) / 4);
    const exact = signFlipTest(twenty);
    const sampled = signFlipTest([...twenty, 1e-6], { seed: 'one' });
    expect(exact.method).toBe('exact');
    expect(sampled.method).toBe('monte-carlo');
    expect(Math.abs(sampled.pValue - exact.pValue)).toBeLessThan(0.015);
    expect(signFlipTest([...twenty, 1e-6], { seed: 'one' })).toEqual(sampled);
  });

  test('never gives zero from sampling', () => {
    const oneSided = Array.from({ length: 40 }, (_, i) => 0.5 + i / 100);
    expect(signFlipTest(oneSided, { draws: 10_000 }).pValue).toBe(1 / 10_001);
  });

  test('finds a difference between two equal arms at most 5 times in 100', () => {
    const random = seededRandom('type one error');
    const share = (chance: number) => [0, 1, 2].filter(() => random() < chance).length / 3;
    const runs = 2000;
    let found = 0;
    for (let run = 0; run < runs; run++) {
      const differences = Array.from({ length: 9 }, () => {
        const chance = random();
        return share(chance) - share(chance);
      });
      if (signFlipTest(differences).pValue < 0.05) found++;
    }
    expect(found / runs).toBeLessThanOrEqual(0.05);
    expect(found).toBeGreaterThan(0);
  });
});

function fill(count: number, value: number): number[] {
  return Array.from({ length: count }, () => value);
}

function enumerated(differences: number[]): number {
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  let extreme = 0;
  for (let pattern = 0; pattern < 2 ** differences.length; pattern++) {
    const total = differences.reduce((sum, value, i) => sum + (pattern & (1 << i) ? value : -value), 0);
    if (Math.abs(total) >= observed - 1e-9) extreme++;
  }
  return extreme / 2 ** differences.length;
}
