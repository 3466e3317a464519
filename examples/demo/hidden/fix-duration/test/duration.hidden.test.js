import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from '../src/index.js';

test('days are written and read back', () => {
  assert.equal(formatDuration(90_000_000), '1d 1h');
  assert.equal(parseDuration('1d 1h'), 90_000_000);
});
