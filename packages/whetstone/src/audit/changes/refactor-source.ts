import { posix } from 'node:path';
import type { Node, SourceParser } from '../../syntax/source-parser.ts';
import { grammarOf } from '../../syntax/source-parser.ts';
import type { SolvedSource } from '../solved-tree.ts';
import { type ChangedSolution, type Edit, edited } from './changed-solution.ts';
import { renamedLocals } from './rename-locals.ts';
import { splitFile } from './split-file.ts';

/** Versions of a source that do the same. Each change is made only where it is safe by the syntax alone. */
export async function refactorSource(source: SolvedSource, parse: SourceParser): Promise<ChangedSolution[]> {
  const isPython = grammarOf(source.path) === 'python';
  const ways: [kind: string, what: string, make: (root: Node) => Edit[]][] = [
    ['comments', 'adds comments', (root) => comments(root, source, isPython)],
    ['whitespace', 'adds empty lines', (root) => emptyLines(root, source)],
    ['renamed locals', 'renames local variables', (root) => renamedLocals(root, source, isPython)],
    ['inverted if', 'inverts a condition and swaps its branches', (root) => inverted(root, source, isPython)],
    ['extracted constants', 'names constants', (root) => constants(root, source, isPython)],
    ['reordered declarations', 'swaps two functions', (root) => reordered(root, source, isPython)],
  ];
  const found: ChangedSolution[] = [];
  for (const [kind, what, make] of ways) {
    const edits = await parse(source.path, source.text, make);
    if (!edits || edits.length === 0) continue;
    const text = edited(source.text, edits);
    if (!(await parse(source.path, text, () => true))) continue;
    found.push({ kind, what: `${source.path}: ${what}`, files: new Map([[source.path, text]]) });
  }
  const split = await parse(source.path, source.text, (root) => splitFile(root, source));
  if (split) {
    const what = `${source.path}: moves a function to ${posix.basename(split.path)}`;
    found.push({ kind: 'split file', what, files: split.files });
  }
  return found;
}

/** All nodes of these types that begin in a line of the patch. */
export function* nodesOf(node: Node, types: RegExp, { lines }: Pick<SolvedSource, 'lines'>): Generator<Node> {
  for (const child of node.namedChildren) {
    if (!child) continue;
    if (types.test(child.type) && lines.has(child.startPosition.row + 1)) yield child;
    yield* nodesOf(child, types, { lines });
  }
}

const STATEMENT = /^(return_statement|lexical_declaration|expression_statement|if_statement|for_statement)$/;

/** The start of the line of a statement that has the line for itself. */
function lineOf(statement: Node, text: string): { at: number; indent: string } | undefined {
  const at = text.lastIndexOf('\n', statement.startIndex - 1) + 1;
  const indent = text.slice(at, statement.startIndex);
  return /^[ \t]*$/.test(indent) ? { at, indent } : undefined;
}

/** Statements in a block, where a line can be added before them. */
function* inBlocks(root: Node, source: SolvedSource): Generator<{ at: number; indent: string }> {
  for (const statement of nodesOf(root, STATEMENT, source)) {
    const isFirst = statement.parent?.namedChild(0)?.id === statement.id;
    if (!/^(statement_block|block)$/.test(statement.parent?.type ?? '') || isFirst) continue;
    const line = lineOf(statement, source.text);
    if (line) yield line;
  }
}

function comments(root: Node, source: SolvedSource, isPython: boolean): Edit[] {
  const sign = isPython ? '#' : '//';
  const end = source.text.length;
  const lead = source.text.endsWith('\n') ? '' : '\n';
  return [
    ...[...inBlocks(root, source)].map(({ at, indent }) => ({
      from: at,
      to: at,
      text: `${indent}${sign} As before.\n`,
    })),
    { from: end, to: end, text: `${lead}${sign} The end.\n` },
  ];
}

const emptyLines = (root: Node, source: SolvedSource): Edit[] =>
  [...inBlocks(root, source)].map(({ at }) => ({ from: at, to: at, text: '\n' }));

function inverted(root: Node, { text, lines }: SolvedSource, isPython: boolean): Edit[] {
  for (const node of nodesOf(root, /^if_statement$/, { lines })) {
    const condition = node.childForFieldName('condition');
    const yes = node.childForFieldName('consequence');
    const alternatives = node.childrenForFieldName('alternative').flatMap((one) => one ?? []);
    const [otherwise] = alternatives;
    if (!condition || !yes || !otherwise || alternatives.length > 1 || otherwise.type !== 'else_clause')
      continue;
    const no = isPython ? otherwise.childForFieldName('body') : otherwise.namedChild(0);
    if (!no || no.type !== yes.type || !/^(statement_block|block)$/.test(no.type)) continue;
    // Of blocks of Python the indentation of the first line is not part of the node.
    if (isPython && yes.startPosition.column !== no.startPosition.column) continue;
    if (/:=/.test(condition.text)) continue;
    const not = isPython ? `not (${condition.text})` : `(!${condition.text})`;
    return [
      { from: condition.startIndex, to: condition.endIndex, text: not },
      { from: yes.startIndex, to: yes.endIndex, text: text.slice(no.startIndex, no.endIndex) },
      { from: no.startIndex, to: no.endIndex, text: text.slice(yes.startIndex, yes.endIndex) },
    ];
  }
  return [];
}

/** Where a constant of a module can stand: behind its imports, directives and documentation. */
function afterImports(root: Node, isPython: boolean): number | undefined {
  let at = 0;
  for (const child of root.namedChildren) {
    if (!child) continue;
    const isHead =
      /^(import_statement|import_from_statement|future_import_statement|hash_bang_line|comment)$/.test(
        child.type,
      ) ||
      (child.type === 'expression_statement' && child.namedChild(0)?.type === 'string');
    if (!isHead) break;
    at = child.endIndex;
    // A comment documents what follows it.
    if (child.type === 'comment' && !isPython) continue;
  }
  return at;
}

const OPERAND =
  /^(binary_expression|binary_operator|comparison_operator|return_statement|arguments|argument_list)$/;

function constants(root: Node, source: SolvedSource, isPython: boolean): Edit[] {
  const at = afterImports(root, isPython);
  if (at === undefined) return [];
  const edits: Edit[] = [];
  for (const node of nodesOf(root, /^(number|integer|float|string)$/, source)) {
    if (!OPERAND.test(node.parent?.type ?? '') || !isInFunction(node)) continue;
    if (node.type === 'string' && !/^(["'])[^"'\\{}]*\1$/.test(node.text)) continue;
    if (/\b(require|import)\s*$/.test(source.text.slice(0, node.parent?.startIndex))) continue;
    const name = `NAMED_${edits.length + 1}`;
    if (source.text.includes(name)) return [];
    edits.push({ from: node.startIndex, to: node.endIndex, text: name });
    if (edits.length === 3) break;
  }
  if (edits.length === 0) return [];
  const declared = edits.map(({ from, to, text }) => {
    const value = source.text.slice(from, to);
    return isPython ? `${text} = ${value}` : `const ${text} = ${value};`;
  });
  return [...edits, { from: at, to: at, text: `${at === 0 ? '' : '\n'}${declared.join('\n')}\n` }];
}

/** Constants of a default parameter are read at another time. */
function isInFunction(node: Node): boolean {
  for (let one = node.parent; one; one = one.parent) {
    if (/parameter/.test(one.type)) return false;
    if (/^(function_declaration|method_definition|function_definition|function_expression)$/.test(one.type))
      return true;
  }
  return false;
}

/** Two functions beside each other. Those of JavaScript exist before any code runs, and those of Python only when reached. */
function reordered(root: Node, { text, lines }: SolvedSource, isPython: boolean): Edit[] {
  const children = root.namedChildren.flatMap((child) => (child && child.type !== 'comment' ? child : []));
  for (const [index, first] of children.entries()) {
    const second = children[index + 1];
    if (!second || !isFunction(first, isPython) || !isFunction(second, isPython)) continue;
    const inPatch = [first, second].some(({ startPosition }) => lines.has(startPosition.row + 1));
    // What stands between them, such as a comment, would be at the wrong one.
    if (!inPatch || text.slice(first.endIndex, second.startIndex).trim() !== '') continue;
    return [
      { from: first.startIndex, to: first.endIndex, text: second.text },
      { from: second.startIndex, to: second.endIndex, text: first.text },
    ];
  }
  return [];
}

function isFunction(node: Node, isPython: boolean): boolean {
  if (isPython) {
    const parameters = node.childForFieldName('parameters')?.text ?? '';
    return (
      node.type === 'function_definition' &&
      !/[=:]/.test(parameters) &&
      !/->/.test(node.text.split('\n')[0] ?? '')
    );
  }
  const declaration = node.type === 'export_statement' ? node.childForFieldName('declaration') : node;
  return declaration?.type === 'function_declaration';
}
