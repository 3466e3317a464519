import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultRule } from '@whetstone/gateway';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFault } from './read-fault.ts';

describe('the short form of a fault', () => {
  test.each<[string, FaultRule]>([
    ['429', { fault: { kind: 'status', status: 429 } }],
    [
      '429,retry-after=1@first=2',
      { fault: { kind: 'status', status: 429, retryAfterSeconds: 1 }, when: { first: 2 } },
    ],
    ['status=529', { fault: { kind: 'status', status: 529 } }],
    ['latency=500', { fault: { kind: 'latency', ms: 500 } }],
    ['slow-tokens=20@every=3', { fault: { kind: 'slow-tokens', ms: 20 }, when: { every: 3 } }],
    ['hang', { fault: { kind: 'hang' } }],
    ['truncated', { fault: { kind: 'truncated' } }],
    [
      'truncated=3@p=0.2,seed=7',
      { fault: { kind: 'truncated', afterEvents: 3 }, when: { probability: 0.2, seed: 7 } },
    ],
    ['malformed-tool-json@first=1', { fault: { kind: 'malformed-tool-json' }, when: { first: 1 } }],
  ])('%s', (text, rule) => {
    expect(readFault(text)).toEqual(rule);
  });

  test.each([
    ['429ish', 'unknown kind of fault "429ish"'],
    ['hangs', 'did you mean hang?'],
    ['hang=3', 'hang takes no value'],
    ['latency', 'latency needs a number of milliseconds from 0, as in latency=500'],
    ['latency=soon', 'as in latency=500; it has soon'],
    ['latency:500', 'the value of latency stands after =, as in latency=500'],
    ['truncated=1.5', 'truncated needs a whole number of events from 0, as in truncated=3; it has 1.5'],
    ['200', 'status needs a whole number from 400 to 599, as in status=429; it has 200'],
    ['429,retry-after=-1', 'retry-after needs a number of seconds from 0, as in retry-after=1; it has -1'],
    ['429@often=2', 'after @ stands first=N or every=N, with a whole number from 1, or p=SHARE'],
    ['429@first=0', 'after @ stands first=N'],
    ['hang@p=2', 'or p=SHARE, from 0 to 1'],
    ['429@first=2@first=3', 'more than one @'],
    ['429,wait=1', 'status has no field wait; it has retry-after'],
    ['hang,retry-after=1', 'hang has no field retry-after'],
    ['', 'unknown kind of fault ""'],
    ['{"fault":', 'JSON'],
    ['{"fault":{"kind":"hang"},"whenever":1}', 'whenever'],
  ])('%s is refused, with what is wrong and examples', (text, reason) => {
    expect(() => readFault(text)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(reason),
        hint: expect.stringContaining('429,retry-after=1@first=2'),
      }),
    );
  });
});

const occasion = fc.oneof(
  fc.record({ first: fc.integer({ min: 1 }) }),
  fc.record({ every: fc.integer({ min: 1 }) }),
  fc.record(
    { probability: fc.double({ min: 0, max: 1, noNaN: true }), seed: fc.oneof(fc.string(), fc.integer()) },
    { requiredKeys: ['probability'] },
  ),
);

test('every rule can be written as JSON', () => {
  const fault = fc.oneof(
    fc.record({ kind: fc.constantFrom('refused', 'reset', 'hang', 'malformed-tool-json') }),
    fc.record({ kind: fc.constantFrom('latency', 'slow-tokens'), ms: fc.nat() }),
    fc.record({ kind: fc.constantFrom('truncated', 'garbage', 'hang-mid-stream'), afterEvents: fc.nat() }),
    fc.record({ kind: fc.constant('status'), status: fc.integer({ min: 400, max: 599 }) }),
  );
  const rule = fc.record({ fault, when: occasion }, { requiredKeys: ['fault'], noNullPrototype: true });
  fc.assert(
    fc.property(rule, (written) => {
      // As JSON has them: no -0.
      const plain = JSON.parse(JSON.stringify(written));
      expect(readFault(JSON.stringify(written))).toEqual(plain);
    }),
  );
});

test('every fault in the documentation can be read', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/gateway.md'), 'utf8');
  const [, section = ''] = text.split('## Faults');
  const rows = [...section.matchAll(/^\| (`[^|]*`) +\|/gm)].map(([, cell = '']) => cell);
  const faults = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, fault = '']) => fault));
  expect(faults.length).toBeGreaterThan(8);
  const [, json = ''] = /--fault '(\{.*?\})'/.exec(section) ?? [];
  const occasions = [...section.matchAll(/`(@[^`]+)`/g)].map(([, occasion = '']) => `429${occasion}`);
  expect(occasions.length).toBeGreaterThan(2);
  for (const fault of [...faults, ...occasions, json]) expect(() => readFault(fault)).not.toThrow();
});
