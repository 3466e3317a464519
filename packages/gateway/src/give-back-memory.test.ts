import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { giveBackMemory } from './give-back-memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('garbage is collected once when most calls of a burst have ended, and not for a few calls', () => {
  const collect = vi.fn();
  const begin = giveBackMemory(collect);
  const callsAtOnce = (count: number) => Array.from({ length: count }, () => begin());

  for (const end of callsAtOnce(10)) end();
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(0);

  const [last, ...others] = callsAtOnce(40);
  for (const end of others) end();
  expect(collect).toHaveBeenCalledTimes(0);
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(1);
  last?.();
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(1);
});
