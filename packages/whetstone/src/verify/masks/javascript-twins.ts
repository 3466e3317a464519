import type { Node } from '../../syntax/source-parser.ts';
import { escaped } from './escaped.ts';
import { loopOf, type Row, rowsOf, titleIn } from './table-rows.ts';
import { type FoundTest, type FoundTests, literalTwins, negated, renamed, type Twin } from './twin.ts';

const TESTS = new Set(['test', 'it', 'specify']);
const SUITES = new Set(['describe', 'suite', 'context']);
/** What runs a test otherwise, or not at all. */
const OTHERWISE = new Set(['skip', 'todo', 'fails', 'failing', 'skipIf', 'runIf', 'step']);
const FUNCTIONS = new Set(['arrow_function', 'function_expression', 'function_declaration']);

/** Finds the tests of `test` and `it`, in suites and out of them, and what can be changed in each. */
export function javascriptTests(root: Node): FoundTests {
  const tests = [...testsIn(root, [])];
  const callee = tests[0]?.callee;
  const assertion = tests.flatMap(({ forms }) => forms)[0];
  return {
    tests: tests.map(({ names, twins }) => ({ names, twins })),
    sentinels(names, nonces) {
      if (callee === undefined) return { names: [], text: '' };
      const [thrown = '', said = '', asked = ''] = nonces.map((nonce) => JSON.stringify(nonce));
      const bodies = [
        `throw new Error(${thrown})`,
        ...(assertion ? [assertion(said, '"-"'), assertion(`[${asked}].join("")`, '"+"')] : []),
      ];
      const added = names.slice(0, bodies.length);
      const text = added.map(
        (name, index) => `;${callee}(${JSON.stringify(name)}, () => { ${bodies[index]}; });`,
      );
      return { names: added, text: text.join(' ') };
    },
  };
}

/** Writes an assertion that the two given values are equal. It is called when the syntax tree is gone. */
type EqualForm = (actual: string, expected: string) => string;

/** `expected`: what it asks for, where a value can be equal only to that. */
type Assertion = { twins: Twin[]; form?: EqualForm; expected?: Node };

type TestInFile = FoundTest & { callee: string; forms: EqualForm[] };

function* testsIn(
  node: Node,
  names: readonly (string | RegExp)[],
  rows: readonly Row[] = [],
): Generator<TestInFile> {
  for (const child of node.namedChildren) {
    if (!child) continue;
    const call = child.type === 'call_expression' ? namedCall(child) : undefined;
    if (!call) {
      // The rows of two loops in each other would have to be combined.
      const own = rows.length === 0 ? rowsOf(child) : rows;
      yield* testsIn(child, names, own);
      continue;
    }
    if (call.isLeftOut) continue;
    const own = [...names, call.name];
    if (SUITES.has(call.callee)) yield* testsIn(call.body, own);
    else {
      const found = [...assertionsOf(call.body)];
      const forms = found.flatMap(({ form }) => form ?? []);
      const ofRows = rows.flatMap((row) => testOfRow(row, call, found));
      // A change of the assertion itself would change the test of every row.
      if (ofRows.length > 0)
        for (const { name, twins } of ofRows)
          yield { names: [...names, name], callee: call.callee, twins, forms };
      else yield { names: own, callee: call.callee, twins: found.flatMap(({ twins }) => twins), forms };
    }
  }
}

/** The test of one row of a table, whose twins ask for another value in that row. None where the row does not show both. */
function testOfRow(
  row: Row,
  { title, body }: Pick<NamedCall, 'title' | 'body'>,
  found: readonly Assertion[],
): { name: string | RegExp; twins: Twin[] }[] {
  const name = titleIn(row, title);
  // The name of a test has to stay the same.
  const twins = twinsOfRow(row, body, found, (text) => !title.text.includes(text));
  return name === undefined || twins.length === 0 ? [] : [{ name, twins }];
}

/** Other values in one row of a table, where `body` takes them only as what its assertions expect. */
function twinsOfRow(
  row: Row,
  body: Node,
  found: readonly Assertion[],
  isFree: (text: string) => boolean = () => true,
): Twin[] {
  const expected = found.flatMap((one) => one.expected ?? []);
  return expected.flatMap((one) => {
    const uses = body.text.match(new RegExp(`(?<![\\w.])${escaped(one.text)}(?![\\w])`, 'g')) ?? [];
    const isOnlyExpected =
      isFree(one.text) && uses.length === expected.filter(({ text }) => text === one.text).length;
    const value = isOnlyExpected ? row(one) : undefined;
    return value ? literalTwins(value) : [];
  });
}

/** A call such as `test('adds', () => …)`, `describe.each(table)('…', function () {…})`. */
type NamedCall = { callee: string; name: string | RegExp; title: Node; body: Node; isLeftOut: boolean };

function namedCall(call: Node): NamedCall | undefined {
  let callee = call.childForFieldName('function');
  const modifiers: string[] = [];
  while (callee?.type === 'member_expression' || callee?.type === 'call_expression') {
    if (callee.type === 'member_expression') modifiers.push(callee.childForFieldName('property')?.text ?? '');
    callee = callee.childForFieldName(callee.type === 'member_expression' ? 'object' : 'function');
  }
  if (callee?.type !== 'identifier' || !(TESTS.has(callee.text) || SUITES.has(callee.text))) return undefined;
  const args = argumentsOf(call);
  const [title] = args;
  const body = args.find(({ type }) => FUNCTIONS.has(type));
  const name = title && nameOf(title, modifiers.includes('each') || modifiers.includes('for'));
  if (!title || name === undefined || !body) return undefined;
  const isLeftOut = modifiers.some((one) => OTHERWISE.has(one));
  return { callee: callee.text, name, title, body, isLeftOut };
}

function nameOf(title: Node, isTable: boolean): string | RegExp | undefined {
  if (title.type === 'string' || title.type === 'template_string') {
    const isPlain = title.type === 'string' || !title.text.includes('${');
    const inner = title.text.slice(1, -1);
    if (isPlain && !isTable && !inner.includes('\\')) return inner;
    const parts = inner.split(/\$\{(?:[^{}]|\{[^{}]*\})*\}|%[sdifjo#c%]|\$[\w.]+|\\./);
    return new RegExp(`^${parts.map(escaped).join('[\\s\\S]*')}$`);
  }
  return COMPUTED.has(title.type) ? /^[\s\S]*$/ : undefined;
}

/** Expressions that can be the title of a test. */
const COMPUTED = new Set([
  ...['identifier', 'member_expression', 'subscript_expression', 'binary_expression', 'call_expression'],
]);

const argumentsOf = (call: Node): Node[] =>
  (call.childForFieldName('arguments')?.namedChildren ?? []).flatMap((one) =>
    one && one.type !== 'comment' ? one : [],
  );

/** The assertions that run whenever the test comes to its end: statements of its body, before which nothing can end it. */
function* assertionsOf(test: Node): Generator<Assertion> {
  const body = test.childForFieldName('body');
  if (body && body.type !== 'statement_block') {
    const found = assertionIn(body, { isAwaited: true });
    if (found) yield found;
    return;
  }
  yield* assertionsIn(body?.namedChildren ?? [], mayEndTest);
}

/** `mayEnd`: whether what comes after a statement may be left out. */
function* assertionsIn(
  statements: readonly (Node | null)[],
  mayEnd: (statement: Node) => boolean,
): Generator<Assertion> {
  for (const statement of statements) {
    if (!statement || statement.type === 'comment') continue;
    const isReturned = statement.type === 'return_statement';
    const value =
      isReturned || statement.type === 'expression_statement' ? statement.namedChildren[0] : statement;
    if (!value) continue;
    const looped = [...assertionsInLoop(value)];
    yield* looped;
    const found = looped.length > 0 ? undefined : assertionIn(value, { isAwaited: isReturned });
    if (found) yield found;
    if (!found && mayEnd(statement)) return;
  }
}

/** The assertions of a loop that has at least one round: it goes through a table that stands in the file. */
function* assertionsInLoop(loop: Node): Generator<Assertion> {
  const body = loopOf(loop)?.body;
  const rows = body ? rowsOf(loop) : [];
  if (!body || rows.length === 0) return;
  const statements = body.type === 'statement_block' ? body.namedChildren : [body];
  const found = [...assertionsIn(statements, (one) => mayEndTest(one) || mayLeaveRound(one))];
  // Only the first round is sure where one of them may be the last.
  const isWhole = !statements.some((one) => one !== null && (mayEndTest(one) || mayLeaveRound(one)));
  const ofRows = isWhole ? rows.flatMap((row) => twinsOfRow(row, body, found)) : [];
  if (ofRows.length > 0) yield { twins: ofRows };
  // Elsewhere than in this loop, the names of what is expected stand for something else.
  for (const { twins, form } of found) yield { twins, ...(form && { form }) };
}

function mayLeaveRound(node: Node): boolean {
  if (/^(break|continue)_statement$/.test(node.type)) return true;
  return node.namedChildren.some((child) => child !== null && mayLeaveRound(child));
}

/** A `return` of the test itself, or a call that leaves out its rest. */
function mayEndTest(node: Node): boolean {
  if (node.type === 'return_statement' || /\.(skip|todo|pass)$/.test(calleeText(node))) return true;
  if (FUNCTIONS.has(node.type) || node.type === 'method_definition') return false;
  return node.namedChildren.some((child) => child !== null && mayEndTest(child));
}

const calleeText = (node: Node): string =>
  node.type === 'call_expression' ? (node.childForFieldName('function')?.text ?? '') : '';

function assertionIn(node: Node, { isAwaited }: { isAwaited: boolean }) {
  const isAwait = node.type === 'await_expression';
  const inner = isAwait ? node.namedChildren[0] : node;
  if (!inner) return undefined;
  return expectation(inner, isAwait || isAwaited) ?? assertCall(inner, isAwait || isAwaited);
}

/** Matchers that hold for one value only, as far as literals go. `lengthOf` and `length` do for the length. */
const EQUAL_MATCHERS = new Set([
  ...['toBe', 'toEqual', 'toStrictEqual', 'toHaveLength', 'toHaveBeenCalledTimes'],
  ...['equal', 'equals', 'eq', 'eql', 'eqls', 'lengthOf'],
]);
/** Matchers that keep or write what they expect. */
const SNAPSHOTS = /snapshot/i;

/** `expect(actual).toBe(expected)` and its kin, those of Chai too. */
function expectation(node: Node, isAwaited: boolean): Assertion | undefined {
  const isCall = node.type === 'call_expression';
  const last = isCall ? node.childForFieldName('function') : node;
  if (last?.type !== 'member_expression') return undefined;
  const matcher = last.childForFieldName('property');
  let object = last.childForFieldName('object');
  const modifiers: Node[] = [];
  while (object?.type === 'member_expression') {
    const property = object.childForFieldName('property');
    if (property) modifiers.unshift(property);
    object = object.childForFieldName('object');
  }
  if (!matcher || !object || calleeText(object) !== 'expect') return undefined;
  const words = modifiers.map(({ text }) => text);
  const isPromise = words.some((word) => ['resolves', 'rejects', 'eventually'].includes(word));
  if (isPromise && !isAwaited) return { twins: [] };
  const negation = modifiers.find(({ text }) => text === 'not');
  const [expected] = isCall ? argumentsOf(node) : [];
  if (SNAPSHOTS.test(matcher.text)) return { twins: snapshotTwins(matcher.text, expected) };
  const isEqual = expected !== undefined && EQUAL_MATCHERS.has(matcher.text);
  const literal = isEqual && !negation ? literalTwins(expected) : [];
  const chain = words.filter((word) => !['not', 'resolves', 'rejects', 'eventually'].includes(word));
  const called = [...chain, matcher.text].join('.');
  const form: EqualForm = (actual, value) => `expect(${actual}).${called}(${value})`;
  return {
    twins: [...literal, negation ? withoutNot(negation) : withNot(matcher)],
    ...(isEqual && !/times|length/i.test(matcher.text) && { form }),
    ...(isEqual && !negation && { expected }),
  };
}

/** A snapshot that stands in the test is an expected literal. It has no contrary. */
const snapshotTwins = (matcher: string, expected: Node | undefined): Twin[] =>
  /InlineSnapshot$/.test(matcher) && /^(template_)?string$/.test(expected?.type ?? '') && expected
    ? literalTwins(expected)
    : [];

/** `.toBe` becomes `.not.toBe`; in the true test there are four spaces in front of the matcher. */
const withNot = ({ startIndex, text }: Node): Twin => ({
  ...{ kind: 'inverse', from: startIndex, to: startIndex + text.length },
  ...{ same: `    ${text}`, instead: `not.${text}` },
});

/** `.not.toBe` becomes `.toBe`: the word and the dot behind it are replaced by spaces. */
const withoutNot = ({ startIndex, parent }: Node): Twin => {
  const rest = parent?.parent?.text.slice(startIndex - (parent?.parent?.startIndex ?? 0)) ?? '';
  const word = /^not\s*\./.exec(rest)?.[0] ?? '';
  return {
    ...{ kind: 'inverse', from: startIndex, to: startIndex + word.length },
    ...{ same: word, instead: ' '.repeat(word.length) },
  };
};

const CONTRARY: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['equal', 'notEqual'],
    ['strictEqual', 'notStrictEqual'],
    ['deepEqual', 'notDeepEqual'],
    ['deepStrictEqual', 'notDeepStrictEqual'],
    ['match', 'doesNotMatch'],
    ['throws', 'doesNotThrow'],
    ['rejects', 'doesNotReject'],
  ].flatMap(([one = '', other = '']) => [
    [one, other],
    [other, one],
  ]),
);
const EQUAL_CALLS = new Set(['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual', 'is', 'deepEquals']);
const PROMISES = new Set(['rejects', 'doesNotReject']);

/** `assert.equal(actual, expected)`, `equal(actual, expected)`, `assert(actual)`. */
function assertCall(node: Node, isAwaited: boolean): Assertion | undefined {
  if (node.type !== 'call_expression') return undefined;
  const callee = node.childForFieldName('function');
  const name = callee?.type === 'member_expression' ? callee.childForFieldName('property') : callee;
  if (!callee || !name) return undefined;
  const [actual, expected] = argumentsOf(node);
  const isMember = callee !== name && callee.type === 'member_expression';
  const library = isMember ? (callee.childForFieldName('object')?.text ?? '') : '';
  if (isMember && !/^((\w+\.)?assert(\.strict)?|t)$/.test(library)) return undefined;
  if (actual && (/^(ok|assert)$/.test(name.text) || (name.text === 'true' && library === 'assert')))
    return { twins: [negated(actual, '', '!')] };
  if (!actual || (PROMISES.has(name.text) && !isAwaited)) return undefined;
  const contrary = CONTRARY[name.text];
  if (contrary === undefined && !EQUAL_CALLS.has(name.text)) return undefined;
  const isEqual = expected !== undefined && EQUAL_CALLS.has(name.text);
  const found = isEqual ? literalTwins(expected) : [];
  const literal = isEqual && found.length === 0 ? literalTwins(actual) : found;
  const isNamed = /^\w*assert(\.strict)?$/.test(library);
  const called = callee.text;
  const form: EqualForm = (one, other) => `${called}(${one}, ${other})`;
  return {
    twins: [...literal, ...(isNamed && contrary !== undefined ? [renamed(name, contrary)] : [])],
    ...(isEqual && (isNamed || !isMember) && { form }),
    ...(isEqual && { expected }),
  };
}
