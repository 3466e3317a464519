import fc from 'fast-check';
import { expect, test } from 'vitest';
import { logRatio } from './log-ratio.ts';

test('the ratio is the geometric mean over tasks, with a t interval on the logarithms', () => {
  // ln 2, ln 2, ln 8, ln 8: mean ln 4, sd ln 2·√(4/3); t_{.975,3} = 3.18245
  const found = logRatio([
    { variant: 2, baseline: 1 },
    { variant: 20, baseline: 10 },
    { variant: 8, baseline: 1 },
    { variant: 80, baseline: 10 },
  ]);
  const margin = 3.182446 * Math.LN2 * Math.sqrt(4 / 3 / 4);
  expect(found?.ratio).toBeCloseTo(4, 12);
  expect(found?.interval?.low).toBeCloseTo(4 / Math.exp(margin), 5);
  expect(found?.interval?.high).toBeCloseTo(4 * Math.exp(margin), 5);
});

test('amounts of 0 have no ratio, and few tasks no interval', () => {
  expect(logRatio([{ variant: 0, baseline: 1 }])).toBeNull();
  expect(logRatio([{ variant: 1, baseline: 1 }])).toEqual({ ratio: 1, tasks: 1, interval: null });
});

test('exchanging the arms inverts the ratio and its interval', () => {
  const amount = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
  const tasks = fc.array(fc.record({ variant: amount, baseline: amount }), { minLength: 4, maxLength: 20 });
  fc.assert(
    fc.property(tasks, (given) => {
      const [one, other] = [
        logRatio(given),
        logRatio(given.map(({ variant, baseline }) => ({ variant: baseline, baseline: variant }))),
      ];
      expect((one?.ratio ?? 0) * (other?.ratio ?? 0)).toBeCloseTo(1, 6);
      expect((one?.interval?.low ?? 0) * (other?.interval?.high ?? 0)).toBeCloseTo(1, 6);
    }),
    { numRuns: 50 },
  );
});
