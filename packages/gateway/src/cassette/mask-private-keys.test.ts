import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskPrivateKeys } from './mask-private-keys.ts';

const WHOLE_KEY =
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{0,8000}?-----END [A-Z ]{0,20}PRIVATE KEY-----/g;

const pieces = fc.oneof(
  fc.constantFrom(
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
  ),
  fc.constantFrom(
    '-----END OPENSSH PRIVATE KEY-----',
    'BEGIN PRIVATE KEY-----',
    '-----',
    'END ',
    'PRIVATE KEY',
  ),
  fc.constantFrom('\nabc+/=\n', 'x'.repeat(7_990), 'x'.repeat(8_000), 'x'.repeat(8_001)),
  fc.string({ maxLength: 20 }),
);

test('masks what the pattern for a whole key finds', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      expect(maskPrivateKeys(text)).toBe(text.replace(WHOLE_KEY, '<secret>'));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a', 'a'],
  ['-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nb', '<secret>\nb'],
  ['-----BEGIN PRIVATE KEY-----\nMHc', '-----BEGIN PRIVATE KEY-----\nMHc'],
])('%j', (text, expected) => {
  expect(maskPrivateKeys(text)).toBe(expected);
});
