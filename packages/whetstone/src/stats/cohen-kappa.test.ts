import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cohenKappa } from './cohen-kappa.ts';

/** The pairs of a table: rows are the labels of the first rater, columns those of the second. */
const pairsOf = (table: readonly (readonly number[])[]): [string, string][] =>
  table.flatMap((row, first) =>
    row.flatMap((count, second) =>
      Array.from({ length: count }, (): [string, string] => [`${first}`, `${second}`]),
    ),
  );

describe('the formula', () => {
  test.each([
    [
      'the example of most textbooks',
      [
        [20, 5],
        [10, 15],
      ],
      0.7,
      0.5,
      0.4,
    ],
    [
      'equal agreement, other margins',
      [
        [45, 15],
        [25, 15],
      ],
      0.6,
      0.54,
      0.1304,
    ],
    [
      'equal agreement, margins that differ',
      [
        [25, 35],
        [5, 35],
      ],
      0.6,
      0.46,
      0.2593,
    ],
    [
      'agreement as by chance',
      [
        [25, 25],
        [25, 25],
      ],
      0.5,
      0.5,
      0,
    ],
    [
      'agreement below chance',
      [
        [0, 10],
        [10, 0],
      ],
      0,
      0.5,
      -1,
    ],
    [
      'full agreement of three labels',
      [
        [4, 0, 0],
        [0, 3, 0],
        [0, 0, 2],
      ],
      1,
      29 / 81,
      1,
    ],
  ])('%s', (_, table, observed, expected, kappa) => {
    const found = cohenKappa(pairsOf(table));
    expect(found.observed).toBeCloseTo(observed, 10);
    expect(found.expected).toBeCloseTo(expected, 10);
    expect(found.kappa).toBeCloseTo(kappa, 4);
  });

  test('one label gives no kappa, and full agreement no interval', () => {
    expect(cohenKappa([['a', 'a']])).toMatchObject({ kappa: null, observed: 1, interval: null });
    expect(
      cohenKappa(
        pairsOf([
          [5, 0],
          [0, 5],
        ]),
      ),
    ).toMatchObject({ kappa: 1, interval: null });
    expect(() => cohenKappa([])).toThrow(RangeError);
  });

  test('the interval is as wide as the jackknife says', () => {
    const table = [
      [80, 12, 4],
      [10, 60, 9],
      [6, 11, 50],
    ];
    const pairs = pairsOf(table);
    const { interval } = cohenKappa(pairs);
    const left = pairs.map((_, out) => cohenKappa(pairs.toSpliced(out, 1)).kappa ?? 0);
    const mean = left.reduce((sum, one) => sum + one, 0) / left.length;
    const spread = left.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    const margin = 1.96 * Math.sqrt(((left.length - 1) / left.length) * spread);
    const half = ((interval?.high ?? 0) - (interval?.low ?? 0)) / 2;
    expect(half / margin).toBeCloseTo(1, 1);
  });
});

describe('for any labels', () => {
  const label = fc.constantFrom('good', 'bad', 'unsure');
  const pairs = fc.array(fc.tuple(label, label), { minLength: 1, maxLength: 40 });

  test('kappa does not depend on who is first, on the order, or on the names of the labels', () => {
    fc.assert(
      fc.property(pairs, (all) => {
        const { kappa, interval } = cohenKappa(all);
        const others = [
          all.map(([one, other]): [string, string] => [other, one]),
          all.toReversed(),
          all.map(([one, other]): [string, string] => [`x${one}`, `x${other}`]),
        ].map((each) => cohenKappa(each));
        for (const other of others) {
          if (kappa === null) expect(other.kappa).toBeNull();
          else expect(other.kappa).toBeCloseTo(kappa, 10);
          if (interval) expect(other.interval?.low).toBeCloseTo(interval.low, 10);
        }
      }),
    );
  });

  test('it lies within its interval, and both within -1 and 1', () => {
    fc.assert(
      fc.property(pairs, (all) => {
        const { kappa, interval } = cohenKappa(all);
        if (kappa === null || interval === null) return;
        expect(interval.low).toBeGreaterThanOrEqual(-1);
        expect(interval.high).toBeLessThanOrEqual(1);
        expect(kappa).toBeGreaterThanOrEqual(interval.low);
        expect(kappa).toBeLessThanOrEqual(interval.high);
      }),
    );
  });
});
