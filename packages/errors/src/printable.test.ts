import { expect, test } from 'vitest';
import { printable } from './index.ts';

test('what would steer a terminal, or turn the order of a text, stands as its number', () => {
  expect(printable('\u001b[31m\r\u0000\u009b2J\u202e ok\tand\nö🙂')).toBe(
    '\\u001b[31m\\u000d\\u0000\\u009b2J\\u202e ok\tand\nö🙂',
  );
});
