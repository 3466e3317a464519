import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/index.js';

test('quoted fields hold commas, quotes and line breaks', () => {
  assert.deepEqual(parseCsv('a,"b, ""c"""\r\n"d\ne",f\n'), [
    ['a', 'b, "c"'],
    ['d\ne', 'f'],
  ]);
});

test('an open quote is refused', () => {
  assert.throws(() => parseCsv('"a'), /not closed/);
});
