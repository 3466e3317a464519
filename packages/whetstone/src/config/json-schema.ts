import { runInNewContext } from 'node:vm';
import { messageOf } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** What is wrong, and at which JSON pointer: of the schema, or of the value that should fit it. */
export type SchemaProblem = { pointer: string; message: string };

export type CompiledSchema =
  /** `misfit`: the first thing about a value that does not fit. */
  | { kind: 'valid'; misfit: (value: unknown) => SchemaProblem | undefined }
  | { kind: 'invalid'; problem: SchemaProblem };

/** A pattern in the schema may never finish on a value that an agent chose. */
const TIME_LIMIT_MS = 5_000;

const OPTIONS = { strict: false, validateFormats: false, logger: false } as const;

/** Compiles the schema of schemas, which takes ten times as long as most schemas, once for all of them. */
let schemaOfSchemas: Ajv2020 | undefined;

/** Values, and the names of their properties, may come from an agent. */
const TEXT_LIMIT = 300;

/**
 * Compiles a JSON Schema, draft 2020-12. `$schema` is ignored, because most older schemas fit this draft; `format` is
 * an annotation; nothing is fetched. A value that takes longer than `timeLimitMs` to check does not fit.
 */
export function compileSchema(
  { $schema: _, $async: __, ...schema }: JsonObject,
  timeLimitMs = TIME_LIMIT_MS,
): CompiledSchema {
  schemaOfSchemas ??= new Ajv2020(OPTIONS);
  if (!schemaOfSchemas.validateSchema(schema))
    return { kind: 'invalid', problem: problemOf(schemaOfSchemas.errors) };
  try {
    // An instance of its own, because schemas may have the same `$id`.
    const validate = new Ajv2020({ ...OPTIONS, validateSchema: false }).compile(schema);
    return {
      kind: 'valid',
      misfit: (value) =>
        misfitOf(
          () => validate(value),
          () => validate.errors,
          timeLimitMs,
        ),
    };
  } catch (error) {
    // A reference without a target, or a pattern that is not a regular expression.
    return { kind: 'invalid', problem: { pointer: '', message: messageOf(error) } };
  }
}

type Errors = readonly ErrorObject[] | null | undefined;

function misfitOf(validate: () => boolean, errors: () => Errors, timeout: number): SchemaProblem | undefined {
  try {
    // Node can stop only a script at a time limit, together with whatever the script calls.
    const fits = runInNewContext('validate()', { validate }, { timeout });
    return fits ? undefined : problemOf(errors());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      return { pointer: '', message: `could not be checked within ${timeout / 1000} s` };
    }
    // A schema that refers to itself follows a value as deep as the value goes.
    if (error instanceof RangeError) return { pointer: '', message: 'is nested too deeply' };
    throw error;
  }
}

function problemOf(errors: Errors): SchemaProblem {
  const last = errors?.at(-1);
  if (!errors || !last) return { pointer: '', message: 'does not fit' };
  const pointer = last.instancePath;
  // When none of several schemas fits, the errors before the last say why for each of them.
  const reasons =
    ['anyOf', 'oneOf'].includes(last.keyword) && errors.length > 1 ? errors.slice(0, -1) : [last];
  const message = reasons
    .slice(0, 3)
    .map((error) => explain(error, pointer))
    .join(', or ');
  return { pointer: shortened(pointer), message: shortened(message) };
}

function explain({ instancePath, message, keyword, params }: ErrorObject, pointer: string): string {
  const below = instancePath.slice(pointer.length);
  const detail = params.allowedValues ?? params.additionalProperty;
  const said = detail === undefined ? message : `${message}: ${JSON.stringify(detail)}`;
  return `${below === '' ? '' : `${below} `}${said ?? keyword}`;
}

const shortened = (text: string): string =>
  text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT).toWellFormed()}…` : text;
