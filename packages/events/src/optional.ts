import type { z } from 'zod';

/** A value that may be absent. Python programs write `null` for such a value; it is read as `undefined`. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
