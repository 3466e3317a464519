import type { JsonObject } from '@whetstone/events';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// A schema is not checked against the meta-schema: to compile that takes ten times as long as any tool's.
const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
});

/** Enough for the tools of many profiles; a host that makes schemas without end must not fill the memory. */
const MOST_SCHEMAS = 1_000;
const byText = new Map<string, ValidateFunction>();
const byObject = new WeakMap<JsonObject, ValidateFunction>();

/** Compiles each schema once per process: each session has its own copy of the same tools. Throws for a bad one. */
export function validatorOf(schema: JsonObject): ValidateFunction {
  const known = byObject.get(schema);
  if (known) return known;
  const { $schema: _dialect, ...rest } = schema;
  const text = JSON.stringify(rest);
  const validate = byText.get(text) ?? compile(rest);
  if (byText.size >= MOST_SCHEMAS) byText.clear();
  byText.set(text, validate);
  byObject.set(schema, validate);
  return validate;
}

function compile(schema: JsonObject): ValidateFunction {
  const validate = ajv.compile(schema);
  // Its own cache would keep the schemas of all sessions for ever.
  ajv.removeSchema(schema);
  return validate;
}
