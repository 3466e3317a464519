import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reverseWords } from '../src/index.js';

test('reverseWords does what its task says', () => {
  assert.equal(reverseWords('one two three'), 'three two one');
  assert.equal(reverseWords('one'), 'one');
});

test('an argument that is not a string is refused by name', () => {
  assert.throws(() => reverseWords(7), { name: 'TypeError', message: /text must be a string/ });
});
