import type { Node } from '../../syntax/source-parser.ts';
import { type FoundTest, type FoundTests, literalTwins, negated, renamed, type Twin } from './twin.ts';

/** Finds functions and methods of the name `test…`, and what can be changed in each. */
export function pythonTests(root: Node, runner: 'pytest' | 'unittest'): FoundTests {
  return {
    tests: [...testsIn(root, [])],
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

function* testsIn(node: Node, names: readonly string[]): Generator<FoundTest> {
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
        yield* testsIn(child, names);
    } else if (type === 'class_definition' && body) yield* testsIn(body, [...names, name]);
    else if (type === 'function_definition' && body && /^test/.test(name))
      yield { names: [...names, name], twins: [...twinsOf(body)] };
  }
}

/** The assertions that run whenever the test comes to its end: statements of its body, before which nothing can end it. */
function* twinsOf(body: Node): Generator<Twin> {
  for (const statement of body.namedChildren) {
    if (!statement) continue;
    const twins =
      statement.type === 'assert_statement'
        ? assertTwins(statement)
        : statement.type === 'expression_statement'
          ? methodTwins(statement.namedChildren[0] ?? undefined)
          : [];
    yield* twins;
    if (twins.length === 0 && mayEndTest(statement)) return;
  }
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
function assertTwins(statement: Node): Twin[] {
  const condition = statement.namedChildren[0];
  if (!condition) return [];
  return [...equalityTwins(condition), negated(condition, '', 'not ')];
}

function equalityTwins(condition: Node): Twin[] {
  if (condition.type !== 'comparison_operator') return [];
  const [left, right, third] = condition.namedChildren;
  const operators = condition.children.flatMap((child) => (child && !child.isNamed ? child.text : []));
  if (!left || !right || third || operators.join() !== '==') return [];
  const found = literalTwins(right);
  return found.length > 0 ? found : literalTwins(left);
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
const EQUAL_METHODS = /^assert(List|Dict|Tuple|Sequence|MultiLine)?Equals?$/;

/** `self.assertEqual(actual, expected)` and its kin. */
function methodTwins(call: Node | undefined): Twin[] {
  if (call?.type !== 'call' || !/^self\.assert\w+$/.test(functionText(call))) return [];
  const name = call.childForFieldName('function')?.childForFieldName('attribute');
  const [first, second] = call.childForFieldName('arguments')?.namedChildren ?? [];
  if (!name || !first) return [];
  const isEqual = EQUAL_METHODS.test(name.text) && second != null;
  const found = isEqual ? literalTwins(second) : [];
  const literal = isEqual && found.length === 0 ? literalTwins(first) : found;
  const contrary = CONTRARY[name.text];
  return [...literal, ...(contrary === undefined ? [] : [renamed(name, contrary)])];
}
