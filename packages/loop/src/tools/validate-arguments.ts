import { messageOf } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events/json';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { parametersOf, type ToolDefinition } from './tool.ts';

export type ValidatedArguments = { ok: true; args: JsonObject } | { ok: false; reason: string };

/**
 * The arguments of a call, checked against the tool's schema. Every error comes with its path, so that the model can
 * fix the call. Properties that the schema does not know are let through, even where it forbids them.
 */
export async function validateArguments(
  definition: ToolDefinition,
  input: string,
): Promise<ValidatedArguments> {
  if (definition.type === 'provider') return { ok: false, reason: 'this tool runs at the provider' };
  compiler ??= await import('./compile-schema.ts');
  return validate(input, compiler.validatorOf(parametersOf(definition)), EXTRA_PROPERTY);
}

/** As `validateArguments`, but properties that the schema forbids are errors. */
export async function validateStrictly(schema: JsonObject, input: string): Promise<ValidatedArguments> {
  compiler ??= await import('./compile-schema.ts');
  return validate(input, compiler.validatorOf(schema), new Set());
}

/** Why nothing can be checked against this schema, with the path to the fault where that is known. */
export async function problemOfSchema(schema: JsonObject): Promise<string | undefined> {
  compiler ??= await import('./compile-schema.ts');
  try {
    const [problem] = compiler.problemsOfSchema(schema);
    if (problem) return describe(problem);
    compiler.validatorOf(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Loaded with the first call of a tool. An `import()` per call would look for the file each time. */
let compiler: typeof import('./compile-schema.ts') | undefined;

function validate(
  input: string,
  validator: ValidateFunction,
  ignored: ReadonlySet<string>,
): ValidatedArguments {
  const parsed = parseArguments(input);
  if (!parsed.ok || validator(parsed.args)) return parsed;
  const errors = (validator.errors ?? []).filter(({ keyword }) => !ignored.has(keyword));
  if (errors.length === 0) return parsed;
  return { ok: false, reason: errors.slice(0, 10).map(describe).join('; ') };
}

/** The arguments as JSON where they are JSON: what events show. */
export function argumentsForDisplay(input: string, freeform: boolean): JsonValue {
  if (freeform) return input;
  const parsed = parseArguments(input);
  return parsed.ok ? parsed.args : input;
}

function parseArguments(input: string): ValidatedArguments {
  // A call without arguments arrives as an empty text from some providers.
  if (input.trim() === '') return { ok: true, args: {} };
  try {
    const value: JsonValue = JSON.parse(input);
    if (isJsonObject(value)) return { ok: true, args: value };
    return { ok: false, reason: `(root) must be an object, got ${JSON.stringify(value).slice(0, 100)}` };
  } catch (error) {
    return { ok: false, reason: `the arguments are not valid JSON: ${messageOf(error)}` };
  }
}

const EXTRA_PROPERTY = new Set(['additionalProperties', 'unevaluatedProperties']);

function describe(error: ErrorObject): string {
  const path = error.instancePath === '' ? '(root)' : error.instancePath;
  const { allowedValues, additionalProperty, unevaluatedProperty } = error.params;
  const detail = allowedValues ?? additionalProperty ?? unevaluatedProperty;
  const shown = detail === undefined ? '' : ` (${JSON.stringify(detail)})`;
  return `${path} ${error.message ?? 'is invalid'}${shown}`;
}
