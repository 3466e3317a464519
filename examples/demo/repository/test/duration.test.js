import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from '../src/index.js';

test('two units are written', () => {
  assert.equal(formatDuration(90_000), '1m 30s');
  assert.equal(formatDuration(0), '0ms');
});

test('what is written can be read', () => {
  assert.equal(parseDuration('1h 5m'), 3_900_000);
  assert.throws(() => parseDuration('soon'), /not a duration/);
});
