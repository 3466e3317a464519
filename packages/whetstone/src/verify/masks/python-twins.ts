import type { Node } from '../../syntax/source-parser.ts';
import { escaped } from './escaped.ts';
import { rowsOf } from './python-rows.ts';
import { type FoundTest, type FoundTests, literalTwins, negated, renamed, type Twin } from './twin.ts';

/** Finds functions and methods of the name `test…`, and what can be changed in each. */
export function pythonTests(root: Node, runner: 'pytest' | 'unittest'): FoundTests {
  return {
    tests: [...testsIn(root, [], heirsIn(root))],
    sentinels(names, nonces) {
      const [thrown = '', said = '', asked = ''] = nonces.map((nonce) => JSON.stringify(nonce));
      const bodies = [
        `raise AssertionError(${thrown})`,
        `__import__('unittest').TestCase().assertEqual(${said}, '-')`,
        `assert ''.join([${asked}]) == '+', ${asked}`,
      ];
      const written = names.map((name) => `test_${name}`);
      const functions = written.map((name, index) => ({ name, body: bodies[index] ?? bodies[0] }));
      if (runner === 'pytest') {
        const text = functions.map(({ name, body }) => `def ${name}(): ${body}`).join('\n');
        return { names: written, text };
      }
      const owner = `Test${names[0] ?? ''}`;
      const methods = functions.map(({ name, body }) => `    def ${name}(self): ${body}`).join('\n');
      const text = `class ${owner}(__import__('unittest').TestCase):\n${methods}`;
      return { names: written.map((name) => `${owner}.${name}`), text };
    },
  };
}

/** The names of the classes of a file that have the tests of a class as well, by its name. */
type Heirs = ReadonlyMap<string, readonly string[]>;

function heirsIn(root: Node): Heirs {
  const heirs = new Map<string, string[]>();
  // A class comes after those that it inherits from.
  for (const statement of root.namedChildren.toReversed()) {
    const one =
      statement?.type === 'decorated_definition' ? statement.childForFieldName('definition') : statement;
    const name = one?.type === 'class_definition' ? one.childForFieldName('name')?.text : undefined;
    if (!one || name === undefined) continue;
    for (const base of one.childForFieldName('superclasses')?.namedChildren ?? [])
      if (base?.type === 'identifier')
        heirs.set(base.text, [...(heirs.get(base.text) ?? []), name, ...(heirs.get(name) ?? [])]);
  }
  return heirs;
}

function* testsIn(
  node: Node,
  names: readonly (string | RegExp)[],
  heirs: Heirs = new Map(),
): Generator<FoundTest> {
  for (const child of node.namedChildren) {
    if (!child) continue;
    const { type } = child;
    const name = child.childForFieldName('name')?.text ?? '';
    const body = child.childForFieldName('body');
    if (type === 'decorated_definition') {
      if (
        !/@\S*(skip|xfail|expectedFailure|given)/.test(
          child.text.split(/\n\s*(async )?def |\n\s*class /)[0] ?? '',
        )
      )
        yield* testsIn(child, names, heirs);
    } else if (type === 'class_definition' && body) {
      const all = [name, ...(heirs.get(name) ?? [])].map(escaped);
      yield* testsIn(body, [...names, all.length > 1 ? new RegExp(`^(?:${all.join('|')})$`) : name]);
    } else if (type === 'function_definition' && body && /^test/.test(name))
      yield { names: [...names, name], twins: [...twinsOf(body)] };
  }
}

/** The assertions that run whenever the test comes to its end: statements of its body, before which nothing can end it. */
function* twinsOf(body: Node): Generator<Twin> {
  for (const { twins } of assertionsIn(body, mayEndTest)) yield* twins;
}

/** `expected`: what it asks for, where a value can be equal only to that. */
type Assertion = { twins: Twin[]; expected?: Node | undefined };

/** `mayEnd`: whether what comes after a statement may be left out. */
function* assertionsIn(block: Node, mayEnd: (statement: Node) => boolean): Generator<Assertion> {
  for (const statement of block.namedChildren) {
    if (!statement || statement.type === 'comment') continue;
    const found = [...assertionsOf(statement, mayEnd)];
    yield* found;
    // An assertion alone does not end a test, but what else a block has may.
    const isBlock = /^(for|with)_statement$/.test(statement.type);
    if ((found.length === 0 || isBlock) && mayEnd(statement)) return;
  }
}

function* assertionsOf(statement: Node, mayEnd: (statement: Node) => boolean): Generator<Assertion> {
  const body = statement.childForFieldName('body');
  const value = statement.namedChildren[0];
  if (statement.type === 'assert_statement') yield assertion(statement);
  else if (statement.type === 'expression_statement' && value?.type === 'call') {
    const found = methodCall(value) ?? raised(value);
    if (found) yield found;
  } else if (statement.type === 'for_statement') yield* assertionsInLoop(statement);
  else if (statement.type === 'with_statement' && body) {
    const calls = contextsOf(statement);
    for (const call of calls) {
      const found = call.type === 'call' ? raised(call) : undefined;
      if (found) yield found;
    }
    if (calls.every((call) => LETS_THROUGH.test(functionText(call)))) yield* assertionsIn(body, mayEnd);
  }
}

/** What a `with` opens. */
const contextsOf = (statement: Node): Node[] =>
  (statement.namedChildren.find((one) => one?.type === 'with_clause')?.namedChildren ?? []).flatMap(
    (item) => {
      const value = item?.childForFieldName('value');
      return (value?.type === 'as_pattern' ? value.namedChildren[0] : value) ?? [];
    },
  );

/** Contexts whose block always runs, and that keep no failure in it to themselves. */
const LETS_THROUGH = /^(self\.subTest|open|((unittest\.)?mock\.)?patch(\.\w+)*|(warnings\.)?catch_warnings)$/;

/** The assertions of a loop that has at least one round. */
function* assertionsInLoop(loop: Node): Generator<Assertion> {
  const body = loop.childForFieldName('body');
  const rows = rowsOf(loop);
  if (!body || rows.length === 0) return;
  const mayLeave = (one: Node) => mayEndTest(one) || mayLeaveRound(one);
  const found = [...assertionsIn(body, mayLeave)];
  // Only the first round is sure where one of them may be the last.
  const ofRows = mayLeave(body) ? [] : rows.flatMap((row) => twinsOfRow(row, body, found));
  if (ofRows.length > 0) yield { twins: ofRows };
  for (const { twins } of found) yield { twins };
}

function mayLeaveRound(node: Node): boolean {
  if (/^(break|continue)_statement$/.test(node.type)) return true;
  return node.namedChildren.some((child) => child !== null && mayLeaveRound(child));
}

/** Other values in one row of a table, where `body` takes them only as what its assertions expect. */
function twinsOfRow(row: ReadonlyMap<string, Node>, body: Node, found: readonly Assertion[]): Twin[] {
  const expected = found.flatMap((one) => one.expected ?? []);
  return expected.flatMap(({ text }) => {
    const value = row.get(text);
    const uses = body.text.match(new RegExp(`(?<![\\w.])${escaped(text)}(?!\\w)`, 'g')) ?? [];
    return value && uses.length === expected.filter((one) => one.text === text).length
      ? literalTwins(value)
      : [];
  });
}

function mayEndTest(node: Node): boolean {
  if (node.type === 'return_statement') return true;
  if (node.type === 'call' && /(^|\.)(skip|skipTest|xfail|importorskip)$/.test(functionText(node)))
    return true;
  if (node.type === 'function_definition' || node.type === 'lambda') return false;
  return node.namedChildren.some((child) => child !== null && mayEndTest(child));
}

const functionText = (call: Node): string => call.childForFieldName('function')?.text ?? '';

/** `assert actual == expected`, and every other condition. */
function assertion(statement: Node): Assertion {
  const condition = statement.namedChildren[0];
  if (!condition) return { twins: [] };
  const { twins, expected } = equality(condition);
  return { twins: [...twins, negated(condition, '', 'not ')], expected };
}

function equality(condition: Node): Assertion {
  if (condition.type !== 'comparison_operator') return { twins: [] };
  const [left, right, third] = condition.namedChildren;
  const operators = condition.children.flatMap((child) => (child && !child.isNamed ? child.text : []));
  if (!left || !right || third || operators.join() !== '==') return { twins: [] };
  const found = literalTwins(right);
  return { twins: found.length > 0 ? found : literalTwins(left), expected: right };
}

/** `raises(Error)` and its kin, as a call or in a `with`: the twin expects an exception of a class that nothing else has. */
function raised(call: Node): Assertion | undefined {
  const [, kind] = /^(?:self\.assert|(?:pytest\.)?)(raises|warns)(?:Regex)?$/i.exec(functionText(call)) ?? [];
  const [expected] = call.childForFieldName('arguments')?.namedChildren ?? [];
  if (kind === undefined || !expected || /^(keyword_argument|comment)$/.test(expected.type)) return undefined;
  const base = kind.toLowerCase() === 'raises' ? 'Exception' : 'Warning';
  const other = `type('E', (${base},), {})`;
  const length = Math.max(expected.text.length, other.length);
  const texts = { same: expected.text.padEnd(length), instead: other.padEnd(length) };
  return { twins: [{ kind: 'inverse', from: expected.startIndex, to: expected.endIndex, ...texts }] };
}

const CONTRARY: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['assertEqual', 'assertNotEqual'],
    ['assertTrue', 'assertFalse'],
    ['assertIs', 'assertIsNot'],
    ['assertIsNone', 'assertIsNotNone'],
    ['assertIn', 'assertNotIn'],
    ['assertIsInstance', 'assertNotIsInstance'],
    ['assertAlmostEqual', 'assertNotAlmostEqual'],
    ['assertGreater', 'assertLessEqual'],
    ['assertLess', 'assertGreaterEqual'],
    ['assertRegex', 'assertNotRegex'],
  ].flatMap(([one = '', other = '']) => [
    [one, other],
    [other, one],
  ]),
);
const EQUAL_METHODS = /^assert((List|Dict|Tuple|Set|Sequence|MultiLine)?Equals?|(Count|Items)Equal)$/;

/** `self.assertEqual(actual, expected)` and its kin. */
function methodCall(call: Node): Assertion | undefined {
  if (!/^self\.assert\w+$/.test(functionText(call))) return undefined;
  const name = call.childForFieldName('function')?.childForFieldName('attribute');
  const [first, second] = call.childForFieldName('arguments')?.namedChildren ?? [];
  if (!name || !first) return undefined;
  const isEqual = EQUAL_METHODS.test(name.text) && second != null;
  const found = isEqual ? literalTwins(second) : [];
  const literal = isEqual && found.length === 0 ? literalTwins(first) : found;
  const contrary = CONTRARY[name.text];
  if (literal.length === 0 && contrary === undefined && !isEqual) return undefined;
  return {
    twins: [...literal, ...(contrary === undefined ? [] : [renamed(name, contrary)])],
    expected: isEqual ? second : undefined,
  };
}
