import type { Node } from '../../syntax/source-parser.ts';

/** What the names that a loop binds stand for in one of its rounds. A name whose value cannot be seen is not in it. */
export type PythonRow = ReadonlyMap<string, Node>;

/**
 * The rounds that a loop surely has: it goes through a list or a tuple that stands there, or in the same block just before, or
 * through a `range` of numbers. None where that cannot be seen.
 */
export function rowsOf(loop: Node): PythonRow[] {
  const [left, right] = [loop.childForFieldName('left'), loop.childForFieldName('right')];
  if (!left || !right) return [];
  const table = tableOf(right, loop);
  if (table) return elements(table).map((row) => bound(left, row));
  const [, from, to] = /^range\(\s*(?:(\d+)\s*,)?\s*(\d+)\s*\)$/.exec(right.text) ?? [];
  return Number(to ?? 0) > Number(from ?? 0) ? [new Map()] : [];
}

const TABLES = new Set(['list', 'tuple', 'expression_list']);
const TUPLES = new Set(['tuple', 'list', 'pattern_list', 'tuple_pattern', 'list_pattern', 'expression_list']);

/** A list: itself, or that of the only assignment to its name, which nothing but the loop uses. */
function tableOf(node: Node, loop: Node): Node | undefined {
  if (node.type === 'parenthesized_expression') return tableOf(node.namedChildren[0] ?? loop, loop);
  if (TABLES.has(node.type)) return node;
  const block = loop.parent;
  if (node.type !== 'identifier' || !block) return undefined;
  const uses = block.text.match(new RegExp(`(?<![\\w.])${node.text}(?!\\w)`, 'g')) ?? [];
  if (uses.length !== 2) return undefined;
  for (const statement of block.namedChildren) {
    const assigned = statement?.type === 'expression_statement' ? statement.namedChildren[0] : undefined;
    if (assigned?.type !== 'assignment' || assigned.childForFieldName('left')?.text !== node.text) continue;
    const value = assigned.childForFieldName('right');
    return value && TABLES.has(value.type) && assigned.endIndex < loop.startIndex ? value : undefined;
  }
  return undefined;
}

/** What is spread into a list may be empty. */
const elements = (list: Node): Node[] =>
  list.namedChildren.flatMap((one) => (one && !/^(comment|list_splat)$/.test(one.type) ? one : []));

function bound(pattern: Node, value: Node): Map<string, Node> {
  if (pattern.type === 'identifier') return new Map([[pattern.text, value]]);
  const found = new Map<string, Node>();
  if (!TUPLES.has(pattern.type) || !TUPLES.has(value.type)) return found;
  const [names, values] = [pattern, value].map((one) => one.namedChildren.flatMap((child) => child ?? []));
  // A name with a star takes several.
  if (!names || !values || names.length !== values.length) return found;
  for (const [index, part] of names.entries()) {
    const one = values[index];
    if (one) for (const [name, node] of bound(part, one)) found.set(name, node);
  }
  return found;
}
