import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrap } from '../src/index.js';

test('lines are broken at spaces', () => {
  assert.equal(wrap('one two three four', 9), 'one two\nthree\nfour');
});

test('a long word stands alone', () => {
  assert.equal(wrap('a incomprehensible b', 5), 'a\nincomprehensible\nb');
});

test('paragraphs stay apart', () => {
  assert.equal(wrap('one\n\ntwo', 10), 'one\n\ntwo');
});
