import { isJsonObject } from '@whetstone/events/json';
import { describeValue, problemOfParts } from './check-input.ts';
import type { HistoryTurn } from './turn.ts';

// Turns also come from outside: from a snapshot that a host has kept or written itself, and from its hooks. A provider would
// refuse every later request of a history with a malformed one.

/**
 * The turns, if each of them can be sent to a provider. Throws a `TypeError` that names the first place where one cannot.
 * `name`: what the path begins with.
 */
export function checkTurns(method: string, turns: unknown, name = 'turns'): readonly HistoryTurn[] {
  const problem = problemOfTurns(turns, name);
  if (problem !== undefined) throw new TypeError(`${method}: ${problem}`);
  return turns as readonly HistoryTurn[];
}

/** What is wrong with these turns, with the path to it; `undefined` where nothing is. */
export function problemOfTurns(turns: unknown, name = 'turns'): string | undefined {
  if (!Array.isArray(turns)) return `${name} is ${describeValue(turns)}; it must be a list of turns`;
  const callIds = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const problem = problemOfTurn(turn, `${name}[${index}]`, callIds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const KINDS = ['user', 'assistant', 'tool_results', 'system', 'steering'];

/** `callIds`: those of the turns before it, to which those of this turn are added. */
function problemOfTurn(turn: unknown, path: string, callIds: Set<string>): string | undefined {
  if (!isJsonObject(turn)) return `${path} is ${describeValue(turn)}; it must be a turn`;
  const { kind } = turn;
  if (typeof kind !== 'string' || !KINDS.includes(kind))
    return `${path}.kind is ${describeValue(kind)}; it must be one of ${KINDS.join(', ')}`;
  const missing = problemOfName(turn.id, `${path}.id`);
  if (missing !== undefined) return missing;
  if (kind === 'assistant') return problemOfAnswer(turn, path, callIds);
  if (kind === 'tool_results')
    return problemOfList(turn.results, `${path}.results`, (result, at) => problemOfResult(result, at));
  if (kind === 'system') return problemOfText(turn.content, `${path}.content`);
  return problemOfContent(turn.content, `${path}.content`);
}

/** What is wrong with a message to the model, or with the result of a tool. */
export function problemOfContent(content: unknown, path: string): string | undefined {
  if (typeof content === 'string') return problemOfText(content, path);
  const problem = problemOfParts(content, path);
  if (problem !== undefined) return problem;
  return problemOfList(content, path, (part, at) =>
    isJsonObject(part) && part.type === 'text' ? problemOfText(part.text, `${at}.text`) : undefined,
  );
}

/** What is wrong with the result of a tool call. */
export function problemOfResult(result: unknown, path: string): string | undefined {
  if (!isJsonObject(result)) return `${path} is ${describeValue(result)}; it must be a result`;
  const { callId, name, content, isError } = result;
  if (typeof isError !== 'boolean')
    return `${path}.isError is ${describeValue(isError)}; it must be true or false`;
  return (
    problemOfName(callId, `${path}.callId`) ??
    problemOfText(name, `${path}.name`) ??
    problemOfContent(content, `${path}.content`)
  );
}

function problemOfAnswer(
  { parts, provider, model }: Record<string, unknown>,
  path: string,
  callIds: Set<string>,
): string | undefined {
  return (
    problemOfText(provider, `${path}.provider`) ??
    problemOfText(model, `${path}.model`) ??
    problemOfList(parts, `${path}.parts`, (part, at) => problemOfAnswerPart(part, at, callIds))
  );
}

const PART_TYPES = ['text', 'reasoning', 'tool-call', 'provider-result', 'custom'];

function problemOfAnswerPart(part: unknown, path: string, callIds: Set<string>): string | undefined {
  if (!isJsonObject(part)) return `${path} is ${describeValue(part)}; it must be a part`;
  const { type, text, callId, name, input, kind, result } = part;
  switch (type) {
    case 'text':
      return problemOfText(text, `${path}.text`);
    case 'reasoning':
      // Sent back as it came, whatever it is: its signature is bound to it.
      return typeof text === 'string'
        ? undefined
        : `${path}.text is ${describeValue(text)}; it must be a text`;
    case 'tool-call': {
      const problem =
        problemOfName(callId, `${path}.callId`) ??
        problemOfText(name, `${path}.name`) ??
        problemOfText(input, `${path}.input`);
      if (problem !== undefined) return problem;
      if (callIds.has(callId as string))
        return `${path}.callId is ${describeValue(callId)}, as that of a call before it`;
      callIds.add(callId as string);
      return undefined;
    }
    case 'provider-result':
      if (result === undefined) return `${path}.result is missing`;
      return problemOfName(callId, `${path}.callId`) ?? problemOfText(name, `${path}.name`);
    case 'custom':
      return typeof kind === 'string' && /^[^.]+\../.test(kind)
        ? undefined
        : `${path}.kind is ${describeValue(kind)}; it must be a provider and a name, such as "openai.compaction"`;
    default:
      return `${path}.type is ${describeValue(type)}; it must be one of ${PART_TYPES.join(', ')}`;
  }
}

function problemOfList(
  items: unknown,
  path: string,
  problemOf: (item: unknown, path: string) => string | undefined,
): string | undefined {
  if (!Array.isArray(items)) return `${path} is ${describeValue(items)}; it must be a list`;
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, `${path}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const problemOfName = (value: unknown, path: string): string | undefined =>
  typeof value === 'string' && value !== ''
    ? undefined
    : `${path} is ${describeValue(value)}; it must be a text that is not empty`;

function problemOfText(value: unknown, path: string): string | undefined {
  if (typeof value !== 'string') return `${path} is ${describeValue(value)}; it must be a text`;
  return value.isWellFormed() ? undefined : `${path} has half of a character (a lone surrogate)`;
}
