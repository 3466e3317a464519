import type { JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { structuredText } from './structured-text.ts';

const cases: [JsonObject, unknown][] = [
  [
    { type: 'OBJECT', properties: { next: { type: 'STRING', enum: ['user', 'model'] } }, required: ['next'] },
    { next: 'user' },
  ],
  [
    { properties: { title: { type: 'string', minLength: 3 }, done: { type: 'boolean' } } },
    { title: '---', done: false },
  ],
  [{ type: 'array', minItems: 2, items: { type: 'number', minimum: 0.5 } }, [0.5, 0.5]],
  [{ type: 'ARRAY', minItems: '1', items: { anyOf: [{ const: 7 }, { type: 'null' }] } }, [7]],
  [{ type: ['string', 'null'] }, '-'],
  [{}, null],
];

test.each(cases)('a value fits its schema: %j', (schema, value) => {
  expect(JSON.parse(structuredText(schema))).toEqual(value);
});

test('a schema that refers to itself gives a finite value', () => {
  const schema: JsonObject = { type: 'object', properties: {}, required: ['next'] };
  schema.properties = { next: schema };
  expect(structuredText(schema).length).toBeLessThan(500);
});
