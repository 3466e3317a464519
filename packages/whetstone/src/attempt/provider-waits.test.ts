import type { LedgerLine } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import type { CaseProgress } from './lab.ts';
import { reportWaits, secondsWaited } from './provider-waits.ts';

/** A call from one second to another, of the same minute. */
const call = (from: number, to: number, given: Partial<LedgerLine> = {}): LedgerLine =>
  ({
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, from)).toISOString(),
    total_ms: (to - from) * 1000,
    queued_ms: 0,
    outcome: 'ok',
    status: 200,
    flags: [],
    ...given,
  }) as LedgerLine;

const refused = { outcome: 'error', status: 429 } as const;

test('the time between a failed call and the next one, and in the queue, is time of waiting', () => {
  expect(secondsWaited([])).toBe(0);
  expect(secondsWaited([call(0, 5), call(9, 12)])).toBe(0);
  expect(secondsWaited([call(0, 1, refused), call(4, 5, refused), call(12, 14)])).toBe(10);
  expect(secondsWaited([call(0, 6, { queued_ms: 4000 })])).toBe(4);
});

test('time in which the agent had another call, and calls that no provider failed, do not count', () => {
  expect(secondsWaited([call(0, 1, refused), call(0, 8), call(10, 11)])).toBe(2);
  expect(secondsWaited([call(0, 1, { ...refused, flags: ['auxiliary'] }), call(9, 10)])).toBe(0);
  expect(secondsWaited([call(0, 1, { outcome: 'client-closed', status: null }), call(9, 10)])).toBe(0);
  // Nothing followed: the agent gave up.
  expect(secondsWaited([call(0, 1, refused)])).toBe(0);
});

test('a running case waits from a failed call to the next one', () => {
  const seen: CaseProgress[] = [];
  const { onCall, onRequest } = reportWaits({ onProgress: (progress) => void seen.push(progress) });
  const request = { id: '1', wire: 'openai-responses', headers: {}, body: new Uint8Array() } as const;
  onRequest(request);
  onCall(call(0, 1, refused));
  onRequest(request);
  onCall(call(2, 3, { outcome: 'error', status: null }));
  expect(seen).toEqual([
    { phase: 'agent', waiting: 'its provider answered 429' },
    { phase: 'agent', action: 'calls its model again' },
    { phase: 'agent', waiting: 'its provider broke off' },
  ]);
});
