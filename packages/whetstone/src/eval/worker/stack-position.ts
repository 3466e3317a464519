import { fileURLToPath } from 'node:url';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { TestFailure } from '../protocol.ts';

/** Our own frames, and those of packages: neither is where an eval's author looks. */
const OWN = new URL('../', import.meta.url).href;

type Position = NonNullable<TestFailure['at']>;

/** The innermost frame of a stack that is in the author's files. */
export function authorPosition(stack: string | undefined): Position | undefined {
  for (const line of stack?.split('\n').slice(1) ?? []) {
    const frame = /(?<url>file:\/\/\S+?):(?<line>\d+):(?<column>\d+)\)?$/.exec(line)?.groups;
    if (!frame?.url || frame.url.startsWith(OWN) || frame.url.includes('/node_modules/')) continue;
    const file = fileURLToPath(frame.url.replace(/\?.*$/, ''));
    return { file, line: Number(frame.line), column: Number(frame.column) };
  }
  return undefined;
}

/** Node begins the stack of a syntax error with its place, some lines of source and a mark below the wrong column. */
function syntaxPosition(stack: string | undefined): Position | undefined {
  const [first = '', ...lines] = stack?.split('\n') ?? [];
  const place = /^(?<where>(?:file:|\/).+):(?<line>\d+)$/.exec(first)?.groups;
  if (!place?.where) return undefined;
  const where = place.where.replace(/\?.*$/, '');
  const mark = lines.find((line) => /^ *\^+$/.test(line)) ?? '^';
  const file = where.startsWith('file:') ? fileURLToPath(where) : where;
  return { file, line: Number(place.line), column: mark.indexOf('^') + 1 };
}

/** What was thrown, with the line of the author's file that it came from. */
export function failureOf(error: unknown): TestFailure {
  const stack = error instanceof Error ? error.stack : undefined;
  const at = error instanceof SyntaxError ? syntaxPosition(stack) : authorPosition(stack);
  const name = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
  return { message: `${name}${messageOf(error)}`, ...present({ at }) };
}
