import { expect, test } from 'vitest';
import { validatorOf } from './compile-schema.ts';

test('a schema is compiled once for the process, whoever has it, and another one for itself', () => {
  const schemaOf = (type: string) => ({ type: 'object', properties: { n: { type } } });
  const validator = validatorOf(schemaOf('integer'));
  expect(validatorOf(schemaOf('integer'))).toBe(validator);
  expect(
    validatorOf({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schemaOf('integer') }),
  ).toBe(validator);
  const other = validatorOf(schemaOf('string'));
  expect([validator({ n: 1 }), other({ n: 1 })]).toEqual([true, false]);
});
