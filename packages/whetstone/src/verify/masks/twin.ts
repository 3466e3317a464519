import type { Node } from '../../syntax/source-parser.ts';

/**
 * One change of a test after which it has to fail on right code. Both texts have the same length, so that the files of two
 * masks have the same size. A test and its twin exclude each other: no answer of deterministic code satisfies both.
 */
export type Twin = {
  /** `literal`: the expected value is another one of the same look. `inverse`: the assertion asks for the contrary. */
  kind: 'literal' | 'inverse';
  /** What is replaced, in UTF-16 units of the text. */
  from: number;
  to: number;
  /** What stands there in the true test: the text of the file, or that text with spaces. */
  same: string;
  instead: string;
};

/** A test as it stands in a file. */
export type FoundTest = {
  /** The names from the outermost suite or class to the test; in a pattern a table or an expression may stand for anything. */
  names: (string | RegExp)[];
  /** The best first. */
  twins: Twin[];
};

/** What a test file has: its tests, and texts with which tests that must fail can be added at its end. */
export type FoundTests = {
  tests: FoundTest[];
  /**
   * Makes tests that must fail. Each name and each nonce belongs to one of them; the message of its failure has the nonce. Fewer
   * tests than nonces where the file shows no form of assertion that can be used again.
   */
  sentinels(names: readonly string[], nonces: readonly string[]): { names: string[]; text: string };
};

/** Replaces the text of a node. */
export function swap(node: Node, instead: string): Omit<Twin, 'kind'> {
  return { from: node.startIndex, to: node.endIndex, same: node.text, instead };
}

/** Asks for the contrary by a word in front of an expression, such as `not `. In the true test spaces stand there. */
export function negated(node: Node, before: string, word: string): Twin {
  const same = `${before}${' '.repeat(word.length)}(${node.text})`;
  const instead = `${before}${word}(${node.text})`;
  return { kind: 'inverse', from: node.startIndex, to: node.endIndex, same, instead };
}

/** Replaces a name by that of the contrary assertion. */
export function renamed(node: Node, contrary: string): Twin {
  const length = Math.max(node.text.length, contrary.length);
  return {
    ...{ kind: 'inverse', from: node.startIndex, to: node.endIndex },
    ...{ same: node.text.padEnd(length), instead: contrary.padEnd(length) },
  };
}

/** The twins of an expected value, one for each literal in it that decides whether another value is equal to it. */
export function literalTwins(expected: Node): Twin[] {
  return [...leavesOf(expected)].flatMap((leaf) => {
    const instead = otherLiteral(leaf);
    if (instead === undefined) return [];
    const twin = swap(leaf, instead);
    const length = Math.max(twin.same.length, instead.length);
    const padded = { same: twin.same.padEnd(length), instead: instead.padEnd(length) };
    return { kind: 'literal' as const, ...twin, ...padded };
  });
}

/** Values whose parts all count. Keys do not, and what is spread into a value can be replaced by what follows it. */
const CONTAINERS = new Set([
  ...['array', 'object', 'list', 'tuple', 'expression_list', 'dictionary', 'set', 'parenthesized_expression'],
  ...['unary_expression', 'unary_operator', 'concatenated_string', 'as_expression', 'satisfies_expression'],
]);
const SPREADS = new Set(['spread_element', 'list_splat', 'dictionary_splat']);
const STRINGS = new Set(['string', 'template_string']);
const LITERALS = new Set(['number', 'integer', 'float', 'true', 'false', ...STRINGS]);

/** Calls that make a value whose parts are their arguments, such as `Float64Array.of(1, 2)` and `new Set([1, 2])`. */
const MAKERS = /^(Array|Set|Map|Date|((Big)?(Int|Uint)|Float)\d+(Clamped)?Array)(\.(of|from))?$/;
const PYTHON_MAKERS = /^(set|frozenset|tuple|list)$/;

/** The arguments of such a call. */
function madeOf(node: Node): Node | undefined {
  const callee = node.childForFieldName(node.type === 'new_expression' ? 'constructor' : 'function');
  const makers = node.type === 'call' ? PYTHON_MAKERS : MAKERS;
  if (!/^(call|(call|new)_expression)$/.test(node.type) || !makers.test(callee?.text ?? '')) return undefined;
  const made = node.childForFieldName('arguments') ?? undefined;
  // A second argument of `from` is a function, and then the first is what goes into it.
  return callee?.text.endsWith('.from') && made?.namedChildren.length !== 1 ? undefined : made;
}

function* leavesOf(node: Node): Generator<Node> {
  if (LITERALS.has(node.type)) yield node;
  if (isJoined(node)) yield* stringsOf(node);
  const whole = madeOf(node) ?? (CONTAINERS.has(node.type) ? node : undefined);
  if (!whole) return;
  const all = whole.namedChildren.flatMap((child) => child ?? []);
  // Behind the value stands its type.
  const parts = /^(as|satisfies)_/.test(whole.type) ? all.slice(0, 1) : all;
  if (parts.some(({ type }) => SPREADS.has(type))) return;
  if (/^unary/.test(node.type) && !/^[-+]/.test(node.text)) return;
  for (const part of parts) {
    const value = part.type === 'pair' ? part.childForFieldName('value') : part;
    if (value) yield* leavesOf(value);
  }
}

/** Texts that are put together with `+`, of which at least one is written down. */
const isJoined = (node: Node): boolean =>
  /^binary_(expression|operator)$/.test(node.type) &&
  node.childForFieldName('operator')?.text === '+' &&
  !stringsOf(node).next().done;

function* stringsOf(joined: Node): Generator<Node> {
  for (const side of ['left', 'right']) {
    const part = joined.childForFieldName(side);
    if (part && STRINGS.has(part.type)) yield part;
    else if (part && isJoined(part)) yield* stringsOf(part);
  }
}

/** Another literal of the same look and length. Doing it twice gives the first, so neither tells which of them is true. */
function otherLiteral(node: Node): string | undefined {
  if (STRINGS.has(node.type)) return otherString(node);
  if (Object.hasOwn(CONTRARY, node.text)) return CONTRARY[node.text];
  const [, whole = '', fraction = '', end = ''] = /^(\d[\d_]*)(\.\d+)?(n?)$/.exec(node.text) ?? [];
  if (whole === '') return undefined;
  // The last digits of a long fraction may not change the number at all.
  if (fraction !== '') return `${whole}.${otherDigit(fraction[1] ?? '')}${fraction.slice(2)}`;
  if (whole.length > 15 && end === '') return undefined;
  return `${whole.slice(0, -1)}${otherDigit(whole.at(-1) ?? '')}${end}`;
}

const CONTRARY: Readonly<Record<string, string>> = {
  ...{ true: 'false', false: 'true', True: 'False', False: 'True' },
};

const otherDigit = (digit: string): string => String(Number(digit) ^ 1);

/** Two letters that stand side by side change their places; where all are the same, one becomes its neighbour. */
function otherString(node: Node): string | undefined {
  const parts = [...plainParts(node)];
  const pairs = parts.flatMap(({ at, text }) =>
    [...text.matchAll(/(?=([a-z]{2}|[A-Z]{2}|\d{2}))/g)].flatMap(({ index, 1: pair = '' }) =>
      pair[0] === pair[1] ? [] : { at: at + index, pair },
    ),
  );
  const middle = pairs[Math.floor(pairs.length / 2)];
  const replaced = (at: number, letters: string) =>
    `${node.text.slice(0, at)}${letters}${node.text.slice(at + letters.length)}`;
  if (middle) return replaced(middle.at, `${middle.pair[1]}${middle.pair[0]}`);
  for (const { at, text } of parts) {
    const letter = /[a-z0-9]/i.exec(text);
    if (letter) return replaced(at + letter.index, neighbour(letter[0]));
  }
  return undefined;
}

/** The parts of a string that stand for themselves, without escapes and what is put in. `at`: from the start of the string. */
function* plainParts(string: Node): Generator<{ at: number; text: string }> {
  for (const part of string.namedChildren) {
    if (part?.type !== 'string_fragment' && part?.type !== 'string_content') continue;
    let start = part.startIndex;
    for (const end of [...part.namedChildren, undefined]) {
      const text = part.text.slice(
        start - part.startIndex,
        (end?.startIndex ?? part.endIndex) - part.startIndex,
      );
      yield { at: start - string.startIndex, text };
      start = end?.endIndex ?? start;
    }
  }
}

/** a and b, c and d, and so on. */
function neighbour(letter: string): string {
  if (/\d/.test(letter)) return otherDigit(letter);
  const first = letter < 'a' ? 'A' : 'a';
  const place = letter.charCodeAt(0) - first.charCodeAt(0);
  return String.fromCharCode(first.charCodeAt(0) + (place ^ 1));
}
