import { expect, test } from 'vitest';
import { minimumDetectableDifference, tasksNeeded } from './power.ts';

test.each([
  [20, 0.313],
  [50, 0.198],
  [100, 0.14],
  [200, 0.099],
  [500, 0.063],
])('%d tasks with a standard deviation of 0.5 detect %d', (tasks, difference) => {
  expect(minimumDetectableDifference(tasks, 0.5)).toBeCloseTo(difference, 3);
});

test('10 pp at a standard deviation of 0.5 need about 196 tasks, and every difference at least six', () => {
  expect(tasksNeeded(0.1, 0.5)).toBe(197);
  expect(tasksNeeded(-0.1, 0.5)).toBe(197);
  expect(tasksNeeded(1, 0)).toBe(6);
  expect(tasksNeeded(0, 0.5)).toBe(Number.POSITIVE_INFINITY);
});
