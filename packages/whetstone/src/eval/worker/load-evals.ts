import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { present } from '@whetstone/events/present';
import type { EvalDefinition } from '../define.ts';
import type { EvalDescription, EvalFile, EvalFileProblem } from '../protocol.ts';
import { checkDefinition, DefinitionError, placeOfKey } from './check-definition.ts';
import { failureOf } from './stack-position.ts';

type AnyEval = EvalDefinition & Record<string, unknown>;

const isEval = (value: unknown): value is AnyEval =>
  typeof value === 'object' && value !== null && typeof (value as AnyEval).test === 'function';

const loaded = new Map<string, Promise<Map<string | null, AnyEval>>>();

/** The definitions of a file by key, loaded once: an attempt must not pay for the search of a module again. */
function definitionsOf(file: string): Promise<Map<string | null, AnyEval>> {
  const known = loaded.get(file) ?? loadDefinitions(file);
  loaded.set(file, known);
  return known;
}

/** One definition, those of an array, or those of a record. */
async function loadDefinitions(file: string): Promise<Map<string | null, AnyEval>> {
  const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown };
  if (isEval(exported)) return new Map([[null, exported]]);
  const isList = Array.isArray(exported);
  const entries = typeof exported === 'object' && exported !== null ? Object.entries(exported) : [];
  if (entries.length === 0) {
    throw new TypeError(
      'the default export is not an eval. Write `export default defineEval({ test(t) {…} })`, or export an array or a record of evals',
    );
  }
  return new Map(
    entries.map(([key, value]) => {
      const name = isList ? String(Number(key) + 1) : key;
      if (!isEval(value)) throw new TypeError(`the definition ${name} has no function \`test\``);
      return [name, value];
    }),
  );
}

/** One definition of a file. */
export async function findDefinition(file: string, key: string | null): Promise<AnyEval> {
  const found = (await definitionsOf(file)).get(key);
  if (!found) throw new Error(`${file} has no eval ${key}.`);
  return found;
}

/** The evals of a file, or why there are none. */
export async function describeFile({
  file,
  id,
}: EvalFile): Promise<{ evals: EvalDescription[]; problem?: EvalFileProblem }> {
  try {
    const definitions = await definitionsOf(file);
    for (const definition of definitions.values()) checkDefinition(definition);
    return { evals: [...definitions].map(([key, definition]) => describe({ file, id }, key, definition)) };
  } catch (error) {
    if (error instanceof DefinitionError) {
      const { message, key } = error;
      return { evals: [], problem: { file, message, ...placeOfKey(file, key) } };
    }
    const { message, at } = failureOf(error);
    if (at?.file === file) return { evals: [], problem: { file, message, line: at.line, column: at.column } };
    const elsewhere = at ? ` (${at.file}:${at.line}:${at.column})` : '';
    return { evals: [], problem: { file, message: `${message}${elsewhere}` } };
  }
}

function describe({ file, id }: EvalFile, key: string | null, definition: AnyEval): EvalDescription {
  const { description, tags = [], requires = {}, timeoutMs, fixture } = definition;
  return {
    id: key === null ? id : `${id}/${key}`,
    ...{ file, key, requires, tags: [...tags] },
    ...present({ description }),
    ...(fixture !== undefined && { fixture: resolve(dirname(file), fixture) }),
    ...present({ timeoutMs }),
  };
}
