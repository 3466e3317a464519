import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chance } from './chance.ts';

const seed = fc.record({ seed: fc.oneof(fc.string(), fc.integer()), owner: fc.string() });
const probability = fc.double({ min: 0, max: 1, noNaN: true });

test('the same seed, owner and label give the same draw, and a higher probability never makes a true draw false', () => {
  fc.assert(
    fc.property(seed, fc.string(), probability, probability, (drawSeed, label, one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      expect(chance(drawSeed, label, low)).toBe(chance({ ...drawSeed }, label, low));
      if (chance(drawSeed, label, low)) expect(chance(drawSeed, label, high)).toBe(true);
      expect(chance(drawSeed, label, 0)).toBe(false);
      expect(chance(drawSeed, label, 1)).toBe(true);
    }),
  );
});

test.each([0.1, 0.5, 0.9])('a draw is true for about the given share of owners: %d', (share) => {
  const draws = Array.from({ length: 2000 }, (_, index) =>
    chance({ seed: 7, owner: `owner ${index}` }, 'follow the rule', share),
  );
  // Four standard deviations of a binomial share. The draws are fixed, so this cannot be flaky.
  const tolerance = 4 * Math.sqrt((share * (1 - share)) / draws.length);
  expect(Math.abs(draws.filter(Boolean).length / draws.length - share)).toBeLessThan(tolerance);
});

test('labels, owners and seeds draw independently, also when their texts are equal once joined', () => {
  const draws = (owner: string, label: string, seed = 1) =>
    Array.from({ length: 64 }, (_, index) => chance({ seed, owner }, `${label}${index}`, 0.5));
  expect(draws('ab', 'c')).not.toEqual(draws('a', 'bc'));
  expect(draws('a', 'x')).not.toEqual(draws('b', 'x'));
  expect(draws('a', 'x', 1)).not.toEqual(draws('a', 'x', 2));
});
