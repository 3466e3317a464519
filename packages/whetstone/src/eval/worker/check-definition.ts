import { readFileSync } from 'node:fs';
import { messageOf } from '@whetstone/errors';
import type { EvalDefinition } from '../define.ts';
import { requireArgument, requireKeys } from '../expect/arguments.ts';

/** A key of an eval's definition is misspelt, or has a value that means nothing. */
export class DefinitionError extends TypeError {
  readonly key: string;

  constructor(message: string, key: string) {
    super(message);
    this.key = key;
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isAmount: Check = (value) => Number.isFinite(value) && (value as number) > 0;

const KEYS: Record<keyof EvalDefinition, [wanted: string, check: Check]> = {
  description: ['a text', (value) => typeof value === 'string'],
  requires: ['an object of capabilities', (value) => typeof value === 'object' && value !== null],
  tags: ['a list of texts', (value) => Array.isArray(value) && value.every(isText)],
  fixture: ['the path of a folder', isText],
  timeoutMs: ['a number of milliseconds above 0', isAmount],
  test: ['a function', (value) => typeof value === 'function'],
};

const CAPABILITIES = ['conversation', 'toolObservability', 'structuredOutput', 'workspace'];

/** Evals run without a check of their types: a key that nobody reads would be ignored without a word. */
export function checkDefinition(definition: object): void {
  refuseOthers('defineEval()', definition, Object.keys(KEYS));
  for (const [key, [wanted, check]] of Object.entries(KEYS)) {
    const value: unknown = (definition as Record<string, unknown>)[key];
    if (value === undefined) continue;
    placed(key, () => requireArgument(check(value), `defineEval(): ${key}`, wanted, value));
  }
  const { requires = {} } = definition as { requires?: object };
  refuseOthers('defineEval(): requires', requires, CAPABILITIES);
}

function refuseOthers(method: string, given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((key) => !known.includes(key));
  if (other !== undefined) placed(other, () => requireKeys(method, given, known));
}

function placed(key: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new DefinitionError(messageOf(error), key);
  }
}

/** Where a key stands in a file for the first time. `undefined`: it does not stand there as it is. */
export function placeOfKey(file: string, key: string): { line: number; column: number } | undefined {
  const name = key.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const text = readFileSync(file, 'utf8');
  const found = new RegExp(String.raw`(?<=[\s{,])['"]?${name}['"]?\s*[:(,}]`).exec(text);
  if (!found) return undefined;
  const before = text.slice(0, found.index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
