import { expect, test } from 'vitest';
import { z } from 'zod';
import { EVENT_TYPES, eventFields } from './event-fields.ts';
import { streamEventSchema } from './stream-event.ts';

/** `true`, or the words that a field of the schema allows. */
function valuesOf(field: unknown): true | readonly string[] {
  if (field instanceof z.ZodCatch || field instanceof z.ZodOptional) return valuesOf(field.unwrap());
  return field instanceof z.ZodEnum ? field.options.map(String) : true;
}

test('the table has the types, fields and words of the schema', () => {
  const schema = streamEventSchema.options.map(({ shape }) => [
    shape.type.value,
    Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, valuesOf(field)])),
  ]);
  expect(Object.fromEntries(EVENT_TYPES.map((type) => [type, eventFields(type)]))).toEqual(
    Object.fromEntries(schema),
  );
});
