import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMask } from '../../../sandbox/src/mask.ts';
import { bodyTexts } from './body-text.ts';

const textOf = (texts: Iterable<Buffer>): string => JSON.parse(`"${Buffer.concat([...texts])}"`);

/** So that bodies have several slices. */
const filler = 'long text "with quotes" and \\ and line ends\n'.repeat(380);

const secret = 'a-secret-of-the-agent';
const piece = fc.constantFrom(
  filler,
  'x',
  'é',
  '漢字',
  secret,
  secret.slice(0, 9),
  secret.slice(9),
  'a-',
  '😀',
);

test('a request that begins like the one before it has the text that it has by itself', () => {
  const mask = createMask([secret]);
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          kept: fc.double({ min: 0, max: 1, noNaN: true }),
          added: fc.array(piece, { maxLength: 6 }),
        }),
        { minLength: 2, maxLength: 6 },
      ),
      (turns) => {
        const texts = bodyTexts(() => mask.stream());
        let body = '';
        for (const { kept, added } of turns) {
          body = body.slice(0, Math.round(body.length * kept)) + added.join('');
          expect(textOf(texts.request(Buffer.from(body)))).toBe(mask.bytes(Buffer.from(body)).toString());
        }
      },
    ),
  );
});

test('a character that a slice cuts stays whole', () => {
  const texts = bodyTexts();
  for (const end of ['one', 'two']) {
    const body = '漢字'.repeat(2800) + end;
    expect(textOf(texts.request(Buffer.from(body)))).toBe(body);
  }
});

test('a secret that is added between two requests is masked in what they share', () => {
  const mask = createMask(['known-secret']);
  const texts = bodyTexts(() => mask.stream());
  const body = Buffer.from(`${filler} late-secret known-secret ${filler}`);
  expect(textOf(texts.request(body))).toContain('late-secret [masked]');
  mask.add(['late-secret']);
  expect(textOf(texts.request(body))).toContain('[masked] [masked]');
});

test('without a mask, and with one that cannot be forked, each body has its own text', () => {
  const mask = createMask([secret]);
  const unforked = () => {
    const { push, end } = mask.stream();
    return { push, end };
  };
  const [plain, whole] = [bodyTexts(), bodyTexts(unforked)];
  for (const end of ['one', 'two', secret]) {
    const body = Buffer.from(filler + end);
    expect(textOf(plain.request(body))).toBe(filler + end);
    expect(textOf(whole.request(body))).toBe(filler + end.replace(secret, '[masked]'));
    expect(textOf(whole.reply(body))).toBe(filler + end.replace(secret, '[masked]'));
  }
});
