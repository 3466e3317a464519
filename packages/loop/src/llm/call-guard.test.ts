import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallGuard } from './call-guard.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, 'uptime').mockImplementation(() => performance.now() / 1_000);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a silent call is aborted, and the next one is not', () => {
  const outer = new AbortController();
  using guard = new CallGuard(outer.signal);
  guard.begin(100);
  const { signal } = guard;
  vi.advanceTimersByTime(90);
  guard.refresh();
  vi.advanceTimersByTime(90);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(20);
  expect(signal.aborted).toBe(true);
  expect(outer.signal.aborted).toBe(false);
  guard.end();
  guard.begin(100);
  expect(guard.signal.aborted).toBe(false);
  vi.advanceTimersByTime(110);
  expect(guard.signal.aborted).toBe(true);
});

test('silence between two calls aborts nothing, and the next call has its whole time', () => {
  using guard = new CallGuard(new AbortController().signal);
  guard.begin(100);
  guard.end();
  vi.advanceTimersByTime(1_000);
  expect(guard.signal.aborted).toBe(false);
  guard.begin(100);
  vi.advanceTimersByTime(90);
  expect(guard.signal.aborted).toBe(false);
  vi.advanceTimersByTime(20);
  expect(guard.signal.aborted).toBe(true);
});

test('an abort of the submit aborts its call with the same reason, and later calls begin aborted', () => {
  const outer = new AbortController();
  using guard = new CallGuard(outer.signal);
  guard.begin(0);
  outer.abort('enough');
  expect(guard.signal.reason).toBe('enough');
  guard.end();
  guard.begin(0);
  expect(guard.signal.aborted).toBe(true);
  using late = new CallGuard(outer.signal);
  late.begin(0);
  expect(late.signal.reason).toBe('enough');
});

test('a limit that changes holds from the next call on, and 0 is no limit', () => {
  using guard = new CallGuard(new AbortController().signal);
  guard.begin(100);
  guard.end();
  guard.begin(0);
  vi.advanceTimersByTime(100_000);
  expect(guard.signal.aborted).toBe(false);
  guard.end();
  guard.begin(50);
  vi.advanceTimersByTime(60);
  expect(guard.signal.aborted).toBe(true);
});

test('no signal serves so many calls that what models leave on it adds up, and no timer outlives the submit', () => {
  const guard = new CallGuard(new AbortController().signal);
  const signals = new Set<AbortSignal>();
  for (let call = 0; call < 200; call += 1) {
    guard.begin(100);
    signals.add(guard.signal);
    guard.end();
  }
  expect(signals.size).toBe(4);
  expect(vi.getTimerCount()).toBe(1);
  guard[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test('a model that speaks often is not given up, until it is silent for the whole time', () => {
  using guard = new CallGuard(new AbortController().signal);
  guard.begin(100);
  for (let part = 0; part < 500; part += 1) {
    vi.advanceTimersByTime(1);
    guard.refresh();
  }
  vi.advanceTimersByTime(99);
  expect(guard.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(guard.signal.aborted).toBe(true);
});

test('a limit that is longer than any timer of Node does not end a call', () => {
  using guard = new CallGuard(new AbortController().signal);
  guard.begin(Number.MAX_SAFE_INTEGER);
  vi.advanceTimersByTime(60_000);
  expect(guard.signal.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(1);
});
