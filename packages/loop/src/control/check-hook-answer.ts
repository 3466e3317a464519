import { isJsonObject, type JsonObject } from '@whetstone/events/json';
import { checkInput, problemOfParts } from '../conversation/check-input.ts';
import { checkTurns } from '../conversation/check-turn.ts';
import type { HistoryTurn, Input } from '../conversation/turn.ts';
import type { Block, Hooks } from './hooks.ts';

// What the hooks answered. A hook in JavaScript may return anything. Each function throws a `TypeError` that says what its
// hook returned, and what it may return.

type After = NonNullable<Awaited<ReturnType<NonNullable<Hooks['afterTool']>>>>;

/** What is not understood must not let an input pass that the hook may have meant to block. */
export function checkSubmit(value: unknown): Block | { input: Input } | undefined {
  const answer = objectOf(
    'beforeSubmit',
    value,
    "return { input }, { decision: 'block', reason }, or nothing",
  );
  if (!answer) return undefined;
  const block = blockOf(answer, 'the host blocked the input');
  if (block) return block;
  return { input: checkInput('beforeSubmit', answer.field('input') as Input) };
}

/** What is not understood must not let a call run. */
export function checkBefore(value: unknown): Block | { args: JsonObject } | undefined {
  const wanted = "return { args }, { decision: 'block', reason }, or nothing";
  const answer = objectOf('beforeTool', value, wanted);
  if (!answer) return undefined;
  const block = blockOf(answer, 'the host blocked the call');
  if (block) return block;
  const { args } = answer.fields;
  if (isJsonObject(args)) return { args };
  throw new TypeError(`beforeTool: args is not an object, but must be the arguments of the call; ${wanted}`);
}

/** What is not understood must not let a result pass that the hook may have meant to change. */
export function checkAfter(value: unknown): After | undefined {
  const wanted = 'return { content }, { isError }, both, or nothing';
  const answer = objectOf('afterTool', value, wanted);
  if (!answer) return undefined;
  const { content, isError } = answer.fields;
  const problem =
    content === undefined || typeof content === 'string' ? undefined : problemOfParts(content, 'content');
  if (problem !== undefined) throw new TypeError(`afterTool: ${problem}`);
  if (isError !== undefined && typeof isError !== 'boolean')
    throw new TypeError('afterTool: isError is not true or false');
  const keys = Object.keys(answer.fields);
  if (content === undefined && isError === undefined && keys.length > 0)
    throw new TypeError(`afterTool: it returned an object with ${keys.join(', ')}; ${wanted}`);
  return value as After;
}

export function checkStop(value: unknown): { continueWith: Input } | undefined {
  const answer = objectOf('beforeStop', value, 'return { continueWith }, or nothing');
  return answer && { continueWith: checkInput('beforeStop', answer.field('continueWith') as Input) };
}

/** `before`: the turns that the hook was given. The model answers what the last of them says, and so it must with these. */
export function checkOverflow(
  value: unknown,
  before: readonly HistoryTurn[],
): { turns: readonly HistoryTurn[] } | undefined {
  const answer = objectOf('onContextOverflow', value, 'return { turns }, or nothing');
  if (!answer) return undefined;
  const turns = checkTurns('onContextOverflow', answer.field('turns'));
  const last = turns.at(-1);
  if (!last)
    throw new TypeError('onContextOverflow: turns is an empty list; keep what the model has to answer');
  const hasAnswered = last.kind === 'assistant' && last.parts.every(({ type }) => type !== 'tool-call');
  if (hasAnswered && before.at(-1)?.kind !== 'assistant')
    throw new TypeError(
      `onContextOverflow: turns[${turns.length - 1}], the last one, is an answer of the model; keep what it has to answer next`,
    );
  return { turns };
}

type Answer = { hook: keyof Hooks; wanted: string; fields: JsonObject; field: (name: string) => unknown };

/** The object that a hook returned; `undefined` where it returned nothing. */
function objectOf(hook: keyof Hooks, value: unknown, wanted: string): Answer | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw new TypeError(`${hook}: it returned ${kindOf(value)}; ${wanted}`);
  const field = (name: string) => {
    if (value[name] !== undefined) return value[name];
    const names = Object.keys(value).join(', ');
    throw new TypeError(
      `${hook}: ${name} is missing: it returned ${names === '' ? 'an empty object' : `an object with ${names}`}; ${wanted}`,
    );
  };
  return { hook, wanted, fields: value, field };
}

function blockOf({ hook, wanted, fields }: Answer, otherwise: string): Block | undefined {
  const { decision, reason } = fields;
  if (decision === 'block') return { decision, reason: typeof reason === 'string' ? reason : otherwise };
  if (decision === undefined) return undefined;
  throw new TypeError(`${hook}: the decision ${JSON.stringify(decision)} is unknown; ${wanted}`);
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
