import { describe, expect, test } from 'vitest';
import {
  dollars,
  percentNumber,
  pNumber,
  points,
  pointsRange,
  pValue,
  rateWithInterval,
  seconds,
  tokens,
} from './format.ts';

test('a rate is 0 or 100 only when it is', () => {
  expect([0, 0.001, 0.004, 0.5, 0.996, 1].map(percentNumber)).toEqual(['0', '<1', '<1', '50', '>99', '100']);
});

test('a rate stands with its interval, where there is one', () => {
  const interval = { low: 0.22, high: 0.94, level: 0.95, method: '' };
  expect(rateWithInterval(2 / 3, interval)).toBe('67 % [22, 94]');
  expect(rateWithInterval(1, null)).toBe('100 %');
  expect(rateWithInterval(null, null)).toBe('–');
});

test('a difference is 0 only when it is, give or take rounding in the last bits', () => {
  expect([1 / 3, -0.4, 0.004, -0.0004, 0, 1e-17].map(points)).toEqual([
    '+33',
    '−40',
    '+0.4',
    '−0.04',
    '0',
    '0',
  ]);
  expect(pointsRange(-0.4, 1)).toBe('−40 … +100 pp');
});

test('times', () => {
  expect([0, 1.25, 9.96, 59.6, 61, 3599.7, 7384].map(seconds)).toEqual([
    '0.0 s',
    '1.3 s',
    '10 s',
    '1 m 00 s',
    '1 m 01 s',
    '1 h 00 m',
    '2 h 03 m',
  ]);
  expect(seconds(null)).toBe('–');
});

describe('sums say when they are not whole', () => {
  test('tokens', () => {
    expect([tokens(950, 0), tokens(12_345, 0), tokens(2_500_000, 1), tokens(null, 3)]).toEqual([
      '950',
      '12.3K',
      '≥2.5M',
      '–',
    ]);
  });

  test('dollars', () => {
    expect([dollars(0), dollars(0.0012), dollars(1.5), dollars(1.5, 2), dollars(null)]).toEqual([
      '$0.00',
      '$0.0012',
      '$1.50',
      '≥$1.50',
      '–',
    ]);
  });
});

test('p-values', () => {
  expect([0.0004, 0.03125, 1].map(pNumber)).toEqual(['<0.001', '0.031', '1']);
  expect([0.0004, 0.03125].map(pValue)).toEqual(['p < 0.001', 'p = 0.031']);
});
