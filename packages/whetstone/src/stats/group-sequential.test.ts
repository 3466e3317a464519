import { expect, test } from 'vitest';
import { isFutile, LOOKS } from './group-sequential.ts';
import { normalCdf } from './normal.ts';

test('a run goes on while it has a chance to show a difference', () => {
  const chance = (z: number, share: number) =>
    normalCdf((z - 1.96 * Math.sqrt(share)) / Math.sqrt(1 - share));
  expect(chance(0.5, 15 / 60)).toBeCloseTo(0.29, 2);
  expect(chance(0.3, 30 / 60)).toBeCloseTo(0.062, 3);
  expect([isFutile(0.5, 15 / 60), isFutile(0.3, 30 / 60)]).toEqual([false, true]);
});

test('later looks ask for less, and the last one for a little more than a single test', () => {
  const levels = LOOKS.map(({ alpha }) => alpha);
  expect(levels).toEqual(levels.toSorted((a, b) => a - b));
  expect(levels.at(-1)).toBeLessThan(0.05);
});
