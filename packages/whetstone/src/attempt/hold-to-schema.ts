import type { Turn } from '@whetstone/agents';
import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';

/** An answer is for people and checks to read; a file of the workspace has room for more. */
const LIMITS = { bytes: 1024 * 1024, depth: 100 };

/**
 * Holds a completed turn to the schema that its task asked for, whatever the agent says of its answer: one that is
 * missing or does not fit makes it a failed turn, whose message names the place. `data` is then plain JSON, or absent.
 */
export async function holdToSchema(
  turn: Turn,
  schema: JsonObject,
  emit: (event: StreamEvent) => void,
): Promise<Turn> {
  const { data, ...rest } = turn;
  if (turn.status !== 'completed') return rest;
  const answer = toJson(data);
  const misfit = answer.kind === 'json' ? await misfitOf(answer.value, schema) : answer.why;
  if (answer.kind === 'json' && misfit === undefined) return { ...rest, data: answer.value };
  const message = `its answer does not fit output_schema: ${misfit}`;
  emit({ type: 'error', at: new Date().toISOString(), source: 'host', message });
  return { ...rest, status: 'failed', exit: { ended: 'exit', ...turn.exit, message } };
}

/** The answer of a turn that was held to a schema, whose root is an object. */
export const heldAnswer = ({ status, data }: Turn): JsonObject | undefined =>
  status === 'completed' ? (data as JsonObject) : undefined;

async function misfitOf(value: JsonValue, schema: JsonObject): Promise<string | undefined> {
  const { compileSchema } = await import('../config/json-schema.ts');
  const compiled = compileSchema(schema);
  if (compiled.kind === 'invalid') throw new TypeError(`output_schema: ${compiled.problem.message}`);
  const misfit = compiled.misfit(value);
  return misfit && `${misfit.pointer === '' ? '' : `${misfit.pointer} `}${misfit.message}`;
}

type Answer = { kind: 'json'; value: JsonValue } | { kind: 'none'; why: string };

/** An adapter may give anything: what JSON cannot carry is no answer. */
function toJson(data: unknown): Answer {
  const none = (why: string): Answer => ({ kind: 'none', why });
  if (data === undefined) return none('there is none');
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (error) {
    return none(`it is no JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (text === undefined) return none('it is no JSON');
  if (Buffer.byteLength(text) > LIMITS.bytes) return none('it is larger than 1 MiB');
  const value: JsonValue = JSON.parse(text);
  return isDeeper(value, LIMITS.depth)
    ? none(`it is nested deeper than ${LIMITS.depth} levels`)
    : { kind: 'json', value };
}

/** Level by level: what is nested without end must not end on our stack. */
function isDeeper(value: JsonValue, limit: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; depth <= limit; depth++) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
