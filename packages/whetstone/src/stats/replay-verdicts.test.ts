import { expect, test } from 'vitest';
import { replayVerdicts } from './replay-verdicts.ts';

const suite = (tasks: number, trials: number) =>
  Array.from({ length: tasks }, (_, i) => ({ passed: Math.round((((i * 7) % 10) / 10) * trials), trials }));

test.each([
  [8, 5],
  [20, 2],
  [30, 3],
])('%i tasks with %i trials rarely alarm, and find what the plan announces', (tasks, trials) => {
  const { false_alarms: alarms, found } = replayVerdicts(suite(tasks, trials), {
    effect: 0.25,
    replays: 400,
    seed: 'test',
  });
  expect(alarms.share).toBeLessThanOrEqual(0.06);
  expect(Math.abs((found?.share ?? 0) - (found?.announced ?? 1))).toBeLessThanOrEqual(0.08);
});

test('the replays depend only on the seed', () => {
  const once = () => replayVerdicts(suite(6, 2), { effect: 0.2, replays: 50, seed: 'same' });
  expect(once()).toEqual(once());
});

test('a suite that passes nearly everything has no room for a difference', () => {
  const full = Array.from({ length: 10 }, () => ({ passed: 3, trials: 3 }));
  expect(replayVerdicts(full, { effect: 0.3, replays: 20, seed: 'full' }).found).toBeNull();
  expect(() => replayVerdicts(suite(3, 3), { effect: 0.3, replays: 20, seed: 'few' })).toThrow(RangeError);
});
