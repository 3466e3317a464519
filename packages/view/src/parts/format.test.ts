import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as report from '../../../whetstone/src/report/format.ts';

/** The page runs in a browser and cannot load the reports' own functions. */
const page: Pick<
  typeof report,
  'UNKNOWN' | 'counted' | 'dollars' | 'pointsRange' | 'pValue' | 'rateWithInterval' | 'seconds' | 'tokens'
> & { bytes: (count: number) => string } = await import(new URL('./format.js', import.meta.url).href);

const known = fc.double({ min: 0, max: 1e6, noNaN: true });
const maybe = fc.option(known);
const rate = fc.oneof(
  fc.double({ min: -1, max: 1, noNaN: true }),
  fc.constantFrom(-1, -0.004, 0, 1e-12, 0.005, 0.999, 1),
);
const interval = fc.option(
  fc.record({ low: rate, high: rate, level: fc.constant(0.95), method: fc.constant('m') }),
);

test('the page shows every number as the other reports do', () => {
  fc.assert(
    fc.property(known, maybe, rate, interval, fc.nat(3), (value, number, share, range, unknown) => {
      expect(page.seconds(number)).toBe(report.seconds(number));
      expect(page.tokens(number, unknown)).toBe(report.tokens(number, unknown));
      expect(page.dollars(number, unknown)).toBe(report.dollars(number, unknown));
      expect(page.pValue(Math.abs(share))).toBe(report.pValue(Math.abs(share)));
      expect(page.counted(Math.floor(value), 'case')).toBe(report.counted(Math.floor(value), 'case'));
      expect(page.rateWithInterval(share, range)).toBe(report.rateWithInterval(share, range));
      expect(page.pointsRange(share, -share)).toBe(report.pointsRange(share, -share));
      expect(page.rateWithInterval(null, range)).toBe(report.UNKNOWN);
    }),
    { numRuns: 500 },
  );
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1024, '1.0 KiB'],
  [1.5 * 1024 ** 2, '1.5 MiB'],
  [8 * 1024 ** 3, '8.0 GiB'],
])('%d is %s', (count, text) => {
  expect(page.bytes(count)).toBe(text);
});
