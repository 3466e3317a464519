import { expect, test } from 'vitest';
import { labelAgreement } from './label-agreement.ts';

const labels = [
  { id: 'a', human: 'good', judge: 'good' },
  { id: 'b', human: 'bad', judge: 'good' },
  { id: 'c', human: 'bad', judge: 'bad' },
  { id: 'd', human: 'good' },
]
  .map((item) => `${JSON.stringify(item)}\n`)
  .join('\n');

test('compares the labels of a file, and names what differs and what is missing', () => {
  expect(labelAgreement(labels)).toMatchObject({
    count: 3,
    kappa: expect.closeTo(0.4),
    disagreements: [{ id: 'b', human: 'bad', judge: 'good' }],
    missing: ['d'],
  });
});

test('takes new labels of the judge by id', () => {
  const judged = { a: 'good', b: 'bad', c: 'bad', d: 'good' };
  expect(labelAgreement(labels, { judged })).toMatchObject({ count: 4, kappa: 1, missing: [] });
});

test.each([
  ['a line that is not JSON', '{"id": "a", "human": "x"}\nnope', 'labels.jsonl:2'],
  ['a line without a human label', '{"id": "a", "judge": "x"}', 'labels.jsonl:1'],
  ['an id that is there twice', '{"id": "a", "human": 1}\n{"id": "a", "human": 1}', 'labels.jsonl:2'],
  ['a file without labels of both', '{"id": "a", "human": "x"}', 'labels.jsonl'],
])('refuses %s', (_, text, where) => {
  expect(() => labelAgreement(text, { file: 'labels.jsonl' })).toThrow(
    expect.objectContaining({ code: 'labels-invalid', where }),
  );
});
