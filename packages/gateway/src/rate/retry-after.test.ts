import { expect, test } from 'vitest';
import { retryAfterMs, retryAfterMsIn } from './retry-after.ts';

const now = Date.parse('2026-11-21T10:00:00Z');

test.each([
  [{}, undefined],
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '7', 'retry-after-ms': '1250' }, 1250],
])('%j: %s ms', (headers, expected) => {
  expect(retryAfterMs(headers, now)).toBe(expected);
});

test.each([
  ['{"error":{"code":429,"details":[{"@type":"x.QuotaFailure"},{"retryDelay":"17.5s"}]}}', 17_500],
  ['[{"error":{"details":[{"retryDelay":"3s"}]}}]', 3000],
  ['{"error":{"details":[{"retryDelay":"a while"}]}}', undefined],
  ['{"error_code":1015,"retry_after":30}', 30_000],
  ['{"error":{"type":"rate_limit_error","retry_after":1.5}}', 1500],
  ['{"error":{"retry_after":-1},"retry_after":"soon"}', undefined],
  ['{"error":"x"}', undefined],
  ['null', undefined],
  ['<html>', undefined],
])('%s: %s ms', (body, expected) => {
  expect(retryAfterMsIn(body)).toBe(expected);
});
