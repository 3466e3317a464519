import { expect, test } from 'vitest';
import { firstError, messageOf, messageWithCause } from './index.ts';

test.each([
  ['an error', new TypeError('no such host', { cause: new Error('unseen') }), 'no such host'],
  ['an error without a message', new Error(), ''],
  ['the object that a provider package throws', { message: 'over quota', code: 429 }, 'over quota'],
  ['an object without a text as its message', { message: 3, toString: (): string => 'three' }, 'three'],
  ['a text', 'aborted', 'aborted'],
  ['nothing', undefined, 'undefined'],
])('the message of %s', (_, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each([
  ['fetch', new TypeError('fetch failed', { cause: new Error('ENOTFOUND') }), 'fetch failed (ENOTFOUND)'],
  ['an error without a cause', new Error('ended'), 'ended'],
  ['a cause without a message', new Error('ended', { cause: new Error() }), 'ended'],
  ['a text', 'aborted', 'aborted'],
])('the message of %s, with its cause', (_, thrown, message) => {
  expect(messageWithCause(thrown)).toBe(message);
});

test('what failed first, of an error that was followed by others while things were ended', () => {
  const first = new Error('the work failed');
  const second = Object.assign(new Error('a folder is gone'), {
    error: new Error('gone'),
    suppressed: first,
  });
  const third = Object.assign(new Error('another folder is gone'), { suppressed: second });
  expect(firstError(third)).toBe(first);
  expect(firstError('aborted')).toBe('aborted');
});
