import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outputLimit, truncateOutput } from './truncate.ts';

const limits = fc.record({
  maxChars: fc.integer({ min: 0, max: 900 }),
  maxLines: fc.integer({ min: 0, max: 40 }),
  mode: fc.constantFrom('head_tail' as const, 'head' as const, 'tail' as const),
});
const texts = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', 'word '), maxLength: 1500 });

test('the result is within both bounds, marker included, and well formed', () => {
  fc.assert(
    fc.property(texts, limits, (text, limit) => {
      const result = truncateOutput(text, limit);
      expect(result.length).toBeLessThanOrEqual(Math.max(limit.maxChars, 0));
      expect(result.isWellFormed()).toBe(true);
      if (limit.maxLines >= 5 && result !== text && result.includes('[WARNING')) {
        expect(result.split('\n').length).toBeLessThanOrEqual(limit.maxLines);
      }
    }),
    { numRuns: 500 },
  );
});

test('what fits is left as it is', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(truncateOutput(text, { maxChars: text.length, mode: 'head_tail' })).toBe(text);
    }),
  );
});

test('the marker counts exactly what was removed', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '😀', '\n'), minLength: 1200, maxLength: 3000 }),
      (text) => {
        const result = truncateOutput(text, { maxChars: 1000, mode: 'head_tail' });
        if (result === text) return;
        const [, head = '', chars, lines, tail = ''] =
          /^(.*)\n\n\[WARNING: Tool output was truncated\. (\d+) characters \((\d+) lines\) were removed from the middle\..*\]\n\n(.*)$/su.exec(
            result,
          ) ?? [];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Number(chars)).toBe(text.length - head.length - tail.length);
        const removed = text.slice(head.length, text.length - tail.length);
        expect(Number(lines)).toBe(removed.replace(/\n$/, '').split('\n').length);
      },
    ),
  );
});

test('searches keep their head, commands both ends', () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n');
  const overrides = { toolOutputLimits: {}, toolLineLimits: {} };
  const glob = truncateOutput(lines, outputLimit('glob', undefined, overrides));
  expect(glob).toMatch(/^line 0\n/);
  expect(glob).toMatch(/were removed from the end/);
  const shell = truncateOutput(lines, outputLimit('shell', undefined, overrides));
  expect(shell).toMatch(/^line 0\n[\s\S]*line 999$/);
  expect(shell.split('\n').length).toBeLessThanOrEqual(256);
});

test('the host overrides both bounds', () => {
  const overrides = { toolOutputLimits: { shell: 500 }, toolLineLimits: { glob: 10 } };
  expect(outputLimit('shell', undefined, overrides)).toEqual({
    maxChars: 500,
    maxLines: 256,
    mode: 'head_tail',
  });
  expect(outputLimit('glob', undefined, overrides).maxLines).toBe(10);
  expect(outputLimit('other', { maxChars: 7, mode: 'tail' }, overrides)).toEqual({
    maxChars: 7,
    mode: 'tail',
  });
});

test('a tool with the name of something that every object has is limited like any other', () => {
  const usual = outputLimit('lookup', undefined, { toolOutputLimits: {}, toolLineLimits: {} });
  for (const name of ['constructor', 'toString', '__proto__'])
    expect(outputLimit(name, undefined, { toolOutputLimits: {}, toolLineLimits: {} })).toEqual(usual);
});
