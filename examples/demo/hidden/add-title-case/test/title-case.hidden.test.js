import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleCase } from '../src/index.js';

test('every word starts with a capital', () => {
  assert.equal(titleCase('the quick  brown fox'), 'The Quick  Brown Fox');
  assert.equal(titleCase(''), '');
});

test('an argument that is not a string is refused by name', () => {
  assert.throws(() => titleCase(7), { name: 'TypeError', message: /text must be a string/ });
});
