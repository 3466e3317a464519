import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initials } from '../src/index.js';

test('initials does what its task says', () => {
  assert.equal(initials('ada lovelace'), 'AL');
  assert.equal(initials(''), '');
});

test('an argument that is not a string is refused by name', () => {
  assert.throws(() => initials(7), { name: 'TypeError', message: /text must be a string/ });
});
