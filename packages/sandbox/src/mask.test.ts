import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMask } from './mask.ts';

const secret = 'sk-live/abc+def"123 é';

test.each([
  ['as it is', secret],
  ['in JSON', JSON.stringify({ secret })],
  ['percent-encoded', encodeURIComponent(secret)],
  ['percent-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
  ['in hex', Buffer.from(secret).toString('hex')],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in base64 after one byte', Buffer.from(`:${secret}`).toString('base64')],
  ['in base64 after two bytes', Buffer.from(`u:${secret}@host`).toString('base64')],
  ['backwards', [...secret].reverse().join('')],
  ['with every byte in percent', Buffer.from(secret).toString('hex').replace(/../g, '%$&')],
  ['in upper hex', Buffer.from(secret).toString('hex').toUpperCase()],
  ['in base64 with line breaks', Buffer.from(secret).toString('base64').replace(/.{16}/g, '$&\n')],
  ['in hex with line breaks', Buffer.from(secret).toString('hex').replace(/.{20}/g, '$&\r\n')],
  [
    'in hex with a line break after its first character',
    Buffer.from(secret).toString('hex').replace(/./, '$&\n'),
  ],
  [
    'in base64 with line breaks in JSON',
    JSON.stringify(Buffer.from(secret).toString('base64').replace(/.{16}/g, '$&\r\n')),
  ],
  ['in base64url', Buffer.from(secret).toString('base64url')],
])('a secret %s', (_, text) => {
  const masked = createMask([secret]).text(`before ${text} after`);
  expect(masked).toMatch(/^before .*\[masked\].* after$/s);
  expect(masked.length).toBeLessThan(40);
});

test('short values and empty lists mask nothing', () => {
  expect(createMask(['short', '']).text('a short text')).toBe('a short text');
  expect(createMask([]).text('a text')).toBe('a text');
});

test('the longest of overlapping secrets wins', () => {
  expect(createMask(['secret', 'secret-long']).text('a secret-long b secret c')).toBe(
    'a [masked] b [masked] c',
  );
});

test('a stream is masked like the whole, whatever its chunks are', () => {
  const secrets = ['abcabd', 'abcabcabe', 'bcabca'];
  const mask = createMask(secrets);
  const piece = fc.oneof(fc.constantFrom(...secrets, 'a', 'b', 'c', 'abc', 'e'), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(12)), (pieces, sizes) => {
      const whole = Buffer.from(pieces.join(''));
      const stream = mask.stream();
      const output: Buffer[] = [];
      let position = 0;
      for (const size of sizes) {
        output.push(stream.push(whole.subarray(position, position + size)));
        position += size;
      }
      output.push(stream.push(whole.subarray(position)), stream.end());
      const masked = Buffer.concat(output);
      expect(masked).toEqual(mask.bytes(whole));
      for (const each of secrets) expect(masked.includes(each)).toBe(false);
    }),
  );
});

test('bytes that cannot begin a secret are not held back', () => {
  const stream = createMask(['secret-value']).stream();
  expect(stream.push(Buffer.from('{"line":1}\nsec')).toString()).toBe('{"line":1}\n');
  expect(stream.push(Buffer.from('ond')).toString()).toBe('second');
});

test('secrets that are added later are masked, also in streams that are open', () => {
  const mask = createMask([]);
  const stream = mask.stream();
  expect(mask.isEmpty).toBe(true);
  const before = stream.push(Buffer.from('late-secret '));
  mask.add(['late-secret', 'short']);
  expect(mask.isEmpty).toBe(false);
  const after = [stream.push(Buffer.from('a late-')), stream.push(Buffer.from('secret short')), stream.end()];
  expect(Buffer.concat([before, ...after]).toString()).toBe('late-secret a [masked] short');
});

test('a fork of a stream continues as the stream would, until secrets are added', () => {
  const mask = createMask(['secret-value']);
  const stream = mask.stream();
  expect(stream.push(Buffer.from('a secret-')).toString()).toBe('a ');
  const fork = stream.fork();
  expect(stream.push(Buffer.from('value b')).toString()).toBe('[masked] b');
  expect(fork?.push(Buffer.from('santa !')).toString()).toBe('secret-santa !');
  mask.add(['another-secret']);
  expect(fork?.fork()).toBeUndefined();
});
