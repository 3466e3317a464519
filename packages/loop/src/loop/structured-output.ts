import type { JsonObject } from '@whetstone/events';
import type { ToolDefinition } from '../tools/tool.ts';
import { validateArguments } from '../tools/validate-arguments.ts';

/** A JSON Schema that the last answer of a `submit()` has to fit; its root is an object. */
export type OutputSchema = JsonObject;

/** What to tell a model whose wire has no response format of its own. */
export function outputInstruction(schema: OutputSchema): string {
  return (
    'Your last message of this task has to be one JSON object and nothing else: no prose, no code fence. It has to fit ' +
    `this JSON Schema:\n${JSON.stringify(schema)}`
  );
}

export type CheckedOutput = { ok: true; output: JsonObject } | { ok: false; reason: string };

/** The answer as the schema wants it. A code fence around it is forgiven; a property that the schema forbids is not. */
export function checkOutput(text: string, schema: OutputSchema): CheckedOutput {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
  if (bare.trim() === '') return { ok: false, reason: 'the answer is empty' };
  const checked = validateArguments(definitionOf(schema), bare, { isStrict: true });
  return checked.ok
    ? { ok: true, output: checked.args }
    : { ok: false, reason: checked.reason.replace('the arguments are', 'the answer is').toWellFormed() };
}

const definitions = new WeakMap<OutputSchema, ToolDefinition>();

/** The same object for the same schema, so that it is compiled once. */
function definitionOf(schema: OutputSchema): ToolDefinition {
  const known = definitions.get(schema);
  if (known) return known;
  const definition = { name: 'output', description: '', parameters: schema };
  definitions.set(schema, definition);
  return definition;
}

export function repairRequest(reason: string, schema: OutputSchema): string {
  return `Your answer does not fit: ${reason}. Send it again. ${outputInstruction(schema)}`;
}
