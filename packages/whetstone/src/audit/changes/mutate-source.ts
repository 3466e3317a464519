import type { Node, SourceParser } from '../../syntax/source-parser.ts';
import type { SolvedSource } from '../solved-tree.ts';
import { type ChangedSolution, describeEdit, type Edit, edited } from './changed-solution.ts';

type Mutation = { kind: MutationKind; edit: Edit };
export type MutationKind = 'operator' | 'condition' | 'constant' | 'return' | 'removed statement';

const OPERATORS: Readonly<Record<string, string>> = {
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*', '//': '*' },
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '??': '&&', and: 'or', or: 'and', '&': '|', '|': '&', '<<': '>>', '>>': '<<' },
  ...{ '+=': '-=', '-=': '+=', '*=': '/=', '++': '--', '--': '++', in: 'not in', is: 'is not' },
};
const OPERATIONS = new Set([
  ...['binary_expression', 'augmented_assignment_expression', 'update_expression'],
  ...['binary_operator', 'boolean_operator', 'comparison_operator', 'augmented_assignment'],
]);

/** What tests rarely look at, so that a change of it says little about them. */
const IGNORED = new Set([
  ...[
    'import_statement',
    'import_from_statement',
    'future_import_statement',
    'throw_statement',
    'raise_statement',
  ],
  ...[
    'type_annotation',
    'type_alias_declaration',
    'interface_declaration',
    'type_arguments',
    'type_parameters',
  ],
  ...['decorator', 'comment', 'jsx_attribute', 'assert_statement', 'as_expression', 'type'],
]);
const LOGS = /^(console\.|log(ger|ging)?\.|print\(|debug\(|warn(ings)?\.|process\.(stderr|emitWarning))/;

/** Wrong versions of a source: one small change each, in the lines that the patch adds. `undefined`: it cannot be parsed. */
export async function mutateSource(
  source: SolvedSource,
  parse: SourceParser,
): Promise<ChangedSolution[] | undefined> {
  const mutations = await parse(source.path, source.text, (root) => [...mutationsIn(root, source)]);
  if (!mutations) return undefined;
  const found: ChangedSolution[] = [];
  for (const { kind, edit } of mutations) {
    const text = edited(source.text, [edit]);
    // A text that cannot be parsed fails whatever the tests are.
    const isWhole = await parse(source.path, text, () => true);
    if (isWhole && text !== source.text)
      found.push({ kind, what: describeEdit(source, edit), files: new Map([[source.path, text]]) });
  }
  return found;
}

function* mutationsIn(node: Node, source: SolvedSource): Generator<Mutation> {
  for (const child of node.namedChildren) {
    if (!child || IGNORED.has(child.type)) continue;
    if (isStatement(child) && LOGS.test(child.text)) continue;
    if (source.lines.has(child.startPosition.row + 1)) yield* mutationsOf(child);
    yield* mutationsIn(child, source);
  }
}

function* mutationsOf(node: Node): Generator<Mutation> {
  const { type } = node;
  if (OPERATIONS.has(type)) yield* operatorOf(node);
  else if (/^(if_statement|elif_clause|ternary_expression|conditional_expression)$/.test(type))
    yield* conditionOf(node);
  else if (/^(number|integer|float|string|true|false)$/.test(type)) yield* constantOf(node);
  else if (type === 'return_statement') yield* returnOf(node);
  else if (type === 'arrow_function') yield* arrowOf(node);
  else if (isStatement(node)) yield* removalOf(node);
}

const isStatement = ({ type }: Node): boolean => type === 'expression_statement';

function* operatorOf(node: Node): Generator<Mutation> {
  for (const child of node.children) {
    const instead = child && !child.isNamed ? OPERATORS[child.text] : undefined;
    if (!child || instead === undefined) continue;
    // Of texts only a sum is meant, and any other operation on them fails by itself.
    if (child.text === '+' && /^(string|template_string)$/.test(node.firstNamedChild?.type ?? '')) continue;
    yield { kind: 'operator', edit: { from: child.startIndex, to: child.endIndex, text: instead } };
  }
}

function* conditionOf(node: Node): Generator<Mutation> {
  const condition =
    node.type === 'conditional_expression' ? node.namedChild(1) : node.childForFieldName('condition');
  if (!condition) return;
  const inner =
    condition.type === 'parenthesized_expression' ? (condition.namedChild(0) ?? condition) : condition;
  const text = isPython(node) ? `not (${inner.text})` : `!(${inner.text})`;
  yield { kind: 'condition', edit: { from: inner.startIndex, to: inner.endIndex, text } };
}

const FLIPPED: Readonly<Record<string, string>> = {
  true: 'false',
  false: 'true',
  True: 'False',
  False: 'True',
};

function* constantOf(node: Node): Generator<Mutation> {
  const { text, type, parent } = node;
  const edit = (instead: string): Mutation => ({
    kind: 'constant',
    edit: { from: node.startIndex, to: node.endIndex, text: instead },
  });
  if (FLIPPED[text] !== undefined) return yield edit(FLIPPED[text]);
  if (type !== 'string') {
    const number = Number(text.replaceAll('_', ''));
    if (Number.isFinite(number) && /^[\d._]+$/.test(text)) yield edit(String(number + 1));
    return;
  }
  // Keys, directives, documentation, and what an f-string is made of.
  if (!parent || /^(pair|expression_statement|property_signature|module|literal_type)$/.test(parent.type))
    return;
  if (/^[a-zA-Z]*f/i.test(text) && !/^['"]/.test(text)) return;
  const quote = text.at(-1);
  if (quote === undefined || !/['"]/.test(quote) || text.endsWith(quote.repeat(3))) return;
  yield edit(`${text.slice(0, -1)}~${quote}`);
}

function* returnOf(node: Node): Generator<Mutation> {
  const value = node.namedChild(0);
  if (!value || /^(undefined|null|None|none)$/.test(value.text)) return;
  yield {
    kind: 'return',
    edit: { from: value.startIndex, to: value.endIndex, text: isPython(node) ? 'None' : 'undefined' },
  };
}

function* arrowOf(node: Node): Generator<Mutation> {
  const body = node.childForFieldName('body');
  if (!body || body.type === 'statement_block' || /^(undefined|null)$/.test(body.text)) return;
  yield { kind: 'return', edit: { from: body.startIndex, to: body.endIndex, text: 'undefined' } };
}

function* removalOf(node: Node): Generator<Mutation> {
  const inner = node.namedChild(0);
  if (!inner || /^(string|yield)/.test(inner.type) || /^super\(/.test(inner.text)) return;
  yield {
    kind: 'removed statement',
    edit: { from: node.startIndex, to: node.endIndex, text: isPython(node) ? 'pass' : ';' },
  };
}

/** `module` is the root of Python's trees only. */
function isPython(node: Node): boolean {
  for (let one = node.parent; one; one = one.parent) if (one.type === 'module') return true;
  return false;
}
