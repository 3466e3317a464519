import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncate } from '../src/index.js';

test('a short text stays', () => {
  assert.equal(truncate('short', 10), 'short');
});

test('a long text is cut and ends in an ellipsis', () => {
  assert.equal(truncate('The quick brown fox', 9), 'The quic…');
});

test('a text that is not a string is refused by name', () => {
  assert.throws(() => truncate(12, 3), /text must be a string/);
});
