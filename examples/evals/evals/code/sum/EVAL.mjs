import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { sum } from './sum.mjs';

test('adds', () => assert.equal(sum(2, 3), 5));

test('read the function before it changed it', () => {
  const { o11y } = JSON.parse(readFileSync('__niceeval__/results.json', 'utf8'));
  assert.match(o11y.shellCommands[0].command, /cat sum\.mjs/);
});
