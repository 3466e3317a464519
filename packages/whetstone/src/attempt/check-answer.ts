import type { Turn } from '@whetstone/agents';
import { messageOf } from '@whetstone/errors';
import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';

/** An answer is read by people and checks. A file in the workspace may be larger. */
const LIMITS = { bytes: 1024 * 1024, depth: 100 };

/** A missing or misfit answer makes a completed turn a failed one. In the result `data` is plain JSON or absent. */
export async function checkAnswer(
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

/** The answer of a checked turn. The root of an output schema is an object, so the answer is one as well. */
export const checkedAnswer = ({ status, data }: Turn): JsonObject | undefined =>
  status === 'completed' ? (data as JsonObject) : undefined;

async function misfitOf(value: JsonValue, schema: JsonObject): Promise<string | undefined> {
  const { compileSchema } = await import('../config/json-schema.ts');
  const compiled = compileSchema(schema);
  if (compiled.kind === 'invalid') throw new TypeError(`output_schema: ${compiled.problem.message}`);
  const misfit = compiled.misfit(value);
  return misfit && `${misfit.pointer === '' ? '' : `${misfit.pointer} `}${misfit.message}`;
}

type Answer = { kind: 'json'; value: JsonValue } | { kind: 'none'; why: string };

/** An adapter may return anything. A value that JSON cannot carry does not count as an answer. */
function toJson(data: unknown): Answer {
  const none = (why: string): Answer => ({ kind: 'none', why });
  if (data === undefined) return none('there is none');
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (error) {
    return none(`it is not JSON (${messageOf(error)})`);
  }
  if (text === undefined) return none('it is not JSON');
  if (Buffer.byteLength(text) > LIMITS.bytes) return none('it is larger than 1 MiB');
  const value: JsonValue = JSON.parse(text);
  return isDeeper(value, LIMITS.depth)
    ? none(`it is nested deeper than ${LIMITS.depth} levels`)
    : { kind: 'json', value };
}

/** Goes level by level, so that deep nesting cannot overflow the stack. */
function isDeeper(value: JsonValue, limit: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; depth <= limit; depth++) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
