import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../src/index.js';

test('columns are aligned, numbers to the right', () => {
  assert.equal(
    table([
      ['name', 'size'],
      ['a.txt', 7],
      ['bb.txt', 12],
    ]),
    'name    size\n------  ----\na.txt      7\nbb.txt    12',
  );
});

test('without rows there is no table', () => {
  assert.equal(table([]), '');
});
