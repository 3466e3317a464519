import { isJsonObject, type JsonObject } from '@whetstone/events/json';
import type { Block, Hooks } from '../control/hooks.ts';
import { problemOfParts } from '../conversation/check-input.ts';

type Before = Block | { args: JsonObject };
type After = NonNullable<Awaited<ReturnType<NonNullable<Hooks['afterTool']>>>>;

/**
 * What `beforeTool` answered. A hook in JavaScript may return anything; what is not understood must not let a call run.
 * @throws TypeError says what it returned, and what it may return
 */
export function checkBefore(value: unknown): Before | undefined {
  if (value === undefined || value === null) return undefined;
  const wanted = "return { args }, { decision: 'block', reason }, or nothing";
  if (!isJsonObject(value)) throw new TypeError(`beforeTool: it returned ${kindOf(value)}; ${wanted}`);
  if (value.decision === 'block') {
    const { reason } = value;
    return { decision: 'block', reason: typeof reason === 'string' ? reason : 'the host blocked the call' };
  }
  if ('decision' in value)
    throw new TypeError(`beforeTool: the decision ${JSON.stringify(value.decision)} is unknown; ${wanted}`);
  if (isJsonObject(value.args)) return { args: value.args };
  throw new TypeError(`beforeTool: args is not an object, but must be the arguments of the call; ${wanted}`);
}

/**
 * What `afterTool` answered. What is not understood must not let a result pass that the hook may have meant to change.
 * @throws TypeError says what it returned, and what it may return
 */
export function checkAfter(value: unknown): After | undefined {
  if (value === undefined || value === null) return undefined;
  const wanted = 'return { content }, { isError }, both, or nothing';
  if (!isJsonObject(value)) throw new TypeError(`afterTool: it returned ${kindOf(value)}; ${wanted}`);
  const { content, isError } = value;
  const problem =
    content === undefined || typeof content === 'string' ? undefined : problemOfParts(content, 'content');
  if (problem !== undefined) throw new TypeError(`afterTool: ${problem}`);
  if (isError !== undefined && typeof isError !== 'boolean')
    throw new TypeError('afterTool: isError is not true or false');
  const keys = Object.keys(value);
  if (content === undefined && isError === undefined && keys.length > 0)
    throw new TypeError(`afterTool: it returned an object with ${keys.join(', ')}; ${wanted}`);
  return value as After;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
