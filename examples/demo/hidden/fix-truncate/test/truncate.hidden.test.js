import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncate } from '../src/index.js';

test('a text that fits exactly stays', () => {
  assert.equal(truncate('exactly', 7), 'exactly');
  assert.equal(truncate('exactly!', 7), 'exactl…');
});
