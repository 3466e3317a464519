import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { problemOfSchema, validateStrictly } from '../tools/validate-arguments.ts';

/** A JSON Schema that the last answer of a `submit()` has to fit. Its root must be an object. */
export type OutputSchema = JsonObject;

/** What a `submit()` with this schema is refused with, where no answer can be checked against it. */
export async function faultOfOutputSchema(schema: OutputSchema): Promise<WhetstoneError | undefined> {
  const problem = (await problemOfSchema(schema)) ?? problemOfRoot(schema);
  if (problem === undefined) return undefined;
  return new WhetstoneError(
    'session-option-invalid',
    `SubmitOptions.outputSchema is not the JSON Schema of an object: ${problem}.`,
  );
}

function problemOfRoot({ type }: OutputSchema): string | undefined {
  if (type === undefined || [type].flat().includes('object')) return undefined;
  return `/type is ${JSON.stringify(type)}; it must be "object"`;
}

/** The instruction for a model whose wire cannot enforce a schema. */
export function outputInstruction(schema: OutputSchema): string {
  return (
    'Your last message of this task has to be one JSON object and nothing else: no prose, no code fence. It has to fit ' +
    `this JSON Schema:\n${JSON.stringify(schema)}`
  );
}

type CheckedOutput = { ok: true; output: JsonObject } | { ok: false; reason: string };

/** Parses an answer and checks it against the schema. A code fence around the answer is ignored. */
export async function checkOutput(text: string, schema: OutputSchema): Promise<CheckedOutput> {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
  if (bare.trim() === '') return { ok: false, reason: 'the answer is empty' };
  const checked = await validateStrictly(schema, bare);
  return checked.ok
    ? { ok: true, output: checked.args }
    : { ok: false, reason: checked.reason.replace('the arguments are', 'the answer is').toWellFormed() };
}

export function repairRequest(reason: string, schema: OutputSchema): string {
  return `Your answer does not fit: ${reason}. Send it again. ${outputInstruction(schema)}`;
}
