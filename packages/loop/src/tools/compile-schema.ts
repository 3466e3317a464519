import type { JsonObject } from '@whetstone/events';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

// Without the meta-schema, which takes ten times as long to compile as the schema of a tool: ajv itself refuses keywords
// with values of a wrong type.
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
  // With `$async` the validator would give a promise, which is never false, and reject in nobody's hands.
  const { $schema: _dialect, $async: _async, ...rest } = schema;
  const validate = compiledOnce(rest);
  byObject.set(schema, validate);
  return validate;
}

function compiledOnce(schema: JsonObject): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = byText.get(text);
  if (known) return known;
  const validate = compile(schema);
  if (byText.size >= MOST_SCHEMAS) byText.clear();
  byText.set(text, validate);
  return validate;
}

function compile(schema: JsonObject): ValidateFunction {
  const validate = ajv.compile(schema);
  // Its own cache would keep the schemas of all sessions for ever.
  ajv.removeSchema(schema);
  return validate;
}

let schemaOfSchemas: Ajv2020 | undefined;

/** Where a JSON Schema breaks the rules of the language; empty where it does not. It may still not compile. */
export function problemsOfSchema(schema: JsonObject): readonly ErrorObject[] {
  schemaOfSchemas ??= new Ajv2020({ strict: false, logger: false });
  const { $schema: _dialect, ...rest } = schema;
  return schemaOfSchemas.validateSchema(rest) ? [] : (schemaOfSchemas.errors ?? []);
}
