import type { Turn } from '@whetstone/agents';
import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { checkAnswer } from './check-answer.ts';

const schema = {
  type: 'object',
  properties: {
    verdict: { enum: ['good', 'bad'] },
    findings: { type: 'array', items: { type: 'object', properties: { line: { type: 'integer' } } } },
    by: { anyOf: [{ type: 'string' }, { type: 'object', properties: { age: { type: 'integer' } } }] },
    within: { $ref: '#' },
  },
  required: ['verdict'],
  additionalProperties: false,
};

async function check(data: unknown, turn: Partial<Turn> = {}) {
  const emitted: StreamEvent[] = [];
  const turnWithData: Turn = {
    events: [],
    status: 'completed',
    exit: { ended: 'exit', exitCode: 0 },
    ...turn,
    data,
  };
  return { checked: await checkAnswer(turnWithData, schema, (event) => emitted.push(event)), emitted };
}

test.each([
  [{ verdict: 'good' }],
  [{ verdict: 'bad', findings: [{ line: 3, text: 'x' }], by: { age: 5 }, within: { verdict: 'good' } }],
])('data that fits is kept: %j', async (data) => {
  expect(await check(data)).toMatchObject({ checked: { status: 'completed', data }, emitted: [] });
});

test('data becomes plain JSON', async () => {
  const { checked } = await check({ verdict: 'good', by: new Date(0), findings: undefined });
  expect(checked.data).toStrictEqual({ verdict: 'good', by: '1970-01-01T00:00:00.000Z' });
});

const cyclic: Record<string, unknown> = {};
cyclic.itself = cyclic;
const deep = (levels: number): unknown => JSON.parse(`${'{"within":'.repeat(levels)}{}${'}'.repeat(levels)}`);

test.each([
  ['none', undefined, 'there is none'],
  ['a function', () => {}, 'it is not JSON'],
  ['a circle', cyclic, 'it is not JSON ('],
  ['a big number', { verdict: 1n }, 'it is not JSON ('],
  ['text', 'good', 'must be object'],
  ['null', null, 'must be object'],
  [
    'another word',
    { verdict: 'so so' },
    '/verdict must be equal to one of the allowed values: ["good","bad"]',
  ],
  ['too little', {}, "must have required property 'verdict'"],
  ['too much', { verdict: 'good', more: 1 }, 'must NOT have additional properties: "more"'],
  ['one wrong item', { verdict: 'bad', findings: [{}, { line: '3' }] }, '/findings/1/line must be integer'],
  ['none of two shapes', { verdict: 'bad', by: { age: '5' } }, '/by must be string, or /age must be integer'],
  ['an answer without end', { verdict: 'good', by: 'x'.repeat(2 ** 20) }, 'it is larger than 1 MiB'],
  ['one nested deeply', deep(101), 'it is nested deeper than 100 levels'],
  ['one nested without end', deep(50_000), 'it is'],
])('%s: a failed turn that says why', async (_, data, why) => {
  const { checked, emitted } = await check(data);
  expect(checked).toMatchObject({ status: 'failed', exit: { ended: 'exit', exitCode: 0 } });
  expect(checked).not.toHaveProperty('data');
  expect(checked.exit?.message).toContain(`its answer does not fit output_schema: ${why}`);
  expect(emitted).toMatchObject([{ type: 'error', source: 'host', message: checked.exit?.message }]);
});

test('a long answer does not fill the evidence', async () => {
  const { checked } = await check({ verdict: 'good', ['x'.repeat(10_000)]: 1 });
  expect(checked.exit?.message?.length).toBeLessThan(500);
});

test('a turn that failed already keeps its reason and has no data', async () => {
  const exit = { ended: 'timeout' as const, message: 'stopped' };
  const { checked, emitted } = await check({ verdict: 'good' }, { status: 'failed', exit });
  expect(checked).toEqual({ events: [], status: 'failed', exit });
  expect(emitted).toEqual([]);
});
