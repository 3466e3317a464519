import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/index.js';

test('a title becomes a part of a URL', () => {
  assert.equal(slugify('  Crème brûlée, twice! '), 'creme-brulee-twice');
});
