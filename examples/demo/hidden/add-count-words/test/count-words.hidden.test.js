import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords } from '../src/index.js';

test('countWords does what its task says', () => {
  assert.equal(countWords(' two  words '), 2);
  assert.equal(countWords(''), 0);
});

test('an argument that is not a string is refused by name', () => {
  assert.throws(() => countWords(7), { name: 'TypeError', message: /text must be a string/ });
});
