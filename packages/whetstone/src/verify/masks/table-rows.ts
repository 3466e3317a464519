import type { Node } from '../../syntax/source-parser.ts';
import { escaped } from './escaped.ts';

/** What an expression stands for in one row of a table; `undefined`: that cannot be seen. */
export type Row = (expression: Node) => Node | undefined;

/** A loop over a table: what it binds in each round, the table, and what it does. */
type Loop = { left: Node; right: Node; isOf: boolean; body: Node };

/** `for (const row of rows) …`, `for (const key in rows) …` and `rows.forEach((row) => …)`. */
export function loopOf(node: Node): Loop | undefined {
  if (node.type === 'for_in_statement') {
    const [left, right, body] = ['left', 'right', 'body'].map((field) => node.childForFieldName(field));
    const isOf = node.childForFieldName('operator')?.text === 'of';
    return left && right && body ? { left, right, isOf, body } : undefined;
  }
  const callee = node.type === 'call_expression' ? node.childForFieldName('function') : null;
  if (callee?.childForFieldName('property')?.text !== 'forEach') return undefined;
  const right = callee.childForFieldName('object');
  const [called, ...others] = parts(node.childForFieldName('arguments') ?? node);
  // Nobody waits for an `async` function.
  if (!called || others.length > 0 || !/^(arrow_function|function_expression)$/.test(called.type))
    return undefined;
  if (called.text.startsWith('async')) return undefined;
  const first = called.childForFieldName('parameters')?.namedChildren[0];
  const left = called.childForFieldName('parameter') ?? first?.childForFieldName('pattern') ?? first;
  const body = called.childForFieldName('body');
  return left && right && body ? { left, right, isOf: true, body } : undefined;
}

/**
 * The rows of a table that a loop goes through: `for (const row of rows)`, `for (const [key, value] of Object.entries(rows))`,
 * `for (const key in rows)` and `rows.forEach(…)`, where `rows` is written down as a list or an object in the same file. None
 * where it is not.
 */
export function rowsOf(node: Node): Row[] {
  const loop = loopOf(node);
  if (!loop) return [];
  const { left, right, isOf } = loop;
  const isEntries = right.type === 'call_expression' && calls(right, 'Object.entries');
  const named = isEntries ? right.childForFieldName('arguments')?.namedChildren[0] : right;
  const table = named && dataOf(named, node);
  if (!table || !named) return [];
  if (table.type === 'array') {
    // What is spread into a list may be empty.
    const rows = isOf && !isEntries ? parts(table).filter(({ type }) => type !== 'spread_element') : [];
    return rows.map((row) => rowWith((name) => bound(left, row)?.get(name)));
  }
  return pairsOf(table).flatMap(({ key, value }) => {
    if (isEntries) {
      const [first, second] = left.type === 'array_pattern' ? elements(left) : [];
      const inValue = second && bound(second, value);
      return [rowWith((name) => (name === first?.text ? key : inValue?.get(name)))];
    }
    if (isOf || left.type !== 'identifier') return [];
    const isValue = (one: Node) => one.text === `${named.text}[${left.text}]`;
    return [
      rowWith(
        (name) => (name === left.text ? key : undefined),
        (one) => (isValue(one) ? value : undefined),
      ),
    ];
  });
}

const calls = (call: Node, name: string): boolean => call.childForFieldName('function')?.text === name;

const parts = (node: Node): Node[] =>
  node.namedChildren.flatMap((one) => (one && one.type !== 'comment' ? one : []));

/** The elements of a list by their places. Holes have none. */
function elements(list: Node): (Node | undefined)[] {
  const found: (Node | undefined)[] = [undefined];
  for (const child of list.children) {
    if (child?.type === ',') found.push(undefined);
    else if (child?.isNamed && child.type !== 'comment') found[found.length - 1] = child;
  }
  return found;
}

function pairsOf(object: Node): { key: Node; value: Node }[] {
  return parts(object).flatMap((pair) => {
    const key = pair.type === 'pair' ? pair.childForFieldName('key') : null;
    const value = pair.type === 'pair' ? pair.childForFieldName('value') : null;
    return key && value && key.type !== 'computed_property_name' ? [{ key, value }] : [];
  });
}

/** A list or an object: itself, or that of the nearest `const` with its name, which nothing but the loop uses. */
function dataOf(node: Node, loop: Node): Node | undefined {
  const inner = /^(as|satisfies)_expression$/.test(node.type) ? node.namedChildren[0] : node;
  if (!inner || inner.type === 'array' || inner.type === 'object') return inner ?? undefined;
  if (inner.type !== 'identifier') return undefined;
  for (let scope = inner.parent; scope; scope = scope.parent)
    for (const statement of parts(scope)) {
      const declaration =
        statement.type === 'export_statement' ? statement.childForFieldName('declaration') : statement;
      if (declaration?.type !== 'lexical_declaration' || !declaration.text.startsWith('const')) continue;
      const own = parts(declaration).find((one) => one.childForFieldName('name')?.text === inner.text);
      const value = own?.childForFieldName('value');
      if (!value) continue;
      const isOwn = uses(scope, inner.text) - uses(loop, inner.text) === 1;
      return isOwn && value.type !== 'identifier' ? dataOf(value, loop) : undefined;
    }
  return undefined;
}

const uses = (node: Node, name: string): number =>
  [...node.text.matchAll(new RegExp(`(?<![\\w$.])${escaped(name)}(?![\\w$])`, 'g'))].length;

/** The names that a pattern gives to the parts of a value. */
function bound(pattern: Node, value: Node): Map<string, Node> | undefined {
  if (pattern.type === 'identifier') return new Map([[pattern.text, value]]);
  const found = new Map<string, Node>();
  if (pattern.type === 'array_pattern' && value.type === 'array') {
    const values = elements(value);
    for (const [index, part] of elements(pattern).entries()) {
      const one = values[index];
      if (part && one) for (const [name, node] of bound(part, one) ?? []) found.set(name, node);
    }
  }
  if (pattern.type === 'object_pattern' && value.type === 'object')
    for (const part of parts(pattern)) {
      const isShort = part.type === 'shorthand_property_identifier_pattern';
      const one = memberOf(value, isShort ? part.text : (part.childForFieldName('key')?.text ?? ''));
      const inner = part.childForFieldName('value');
      if (one && isShort) found.set(part.text, one);
      else if (one && inner) for (const [name, node] of bound(inner, one) ?? []) found.set(name, node);
    }
  return found;
}

const memberOf = (object: Node, name: string): Node | undefined =>
  pairsOf(object).find(({ key }) => textOf(key) === name)?.value;

function rowWith(byName: (name: string) => Node | undefined, other: Row = () => undefined): Row {
  const row: Row = (expression) => {
    const found = other(expression);
    if (found) return found;
    if (expression.type === 'identifier') return byName(expression.text);
    const owner = expression.childForFieldName('object');
    const object = owner ? row(owner) : undefined;
    if (object?.type === 'object' && expression.type === 'member_expression')
      return memberOf(object, expression.childForFieldName('property')?.text ?? '');
    if (object?.type === 'array' && expression.type === 'subscript_expression')
      return elements(object)[Number(expression.childForFieldName('index')?.text ?? Number.NaN)];
    return undefined;
  };
  return row;
}

/**
 * The title that a test has in a row: in a pattern anything may stand for what cannot be seen. `undefined`: nothing of the row
 * can be seen in it.
 */
export function titleIn(row: Row, title: Node): string | RegExp | undefined {
  const found = [...partsIn(row, title)];
  if (!found.some(({ isOfRow }) => isOfRow)) return undefined;
  if (found.every(({ text }) => text !== undefined)) return found.map(({ text }) => text).join('');
  const pattern = found.map(({ text }) => (text === undefined ? '[\\s\\S]*' : escaped(text)));
  return new RegExp(`^${pattern.join('')}$`);
}

type TitlePart = { text: string | undefined; isOfRow?: boolean };

function* partsIn(row: Row, title: Node): Generator<TitlePart> {
  const callee = title.type === 'call_expression' ? title.childForFieldName('function') : null;
  const owner = callee?.childForFieldName('object');
  if (title.type === 'template_string')
    for (const part of parts(title))
      if (part.type === 'template_substitution') yield* partsIn(row, part.namedChildren[0] ?? part);
      else yield { text: textOf(part) };
  else if (title.type === 'binary_expression' && title.childForFieldName('operator')?.text === '+')
    for (const side of ['left', 'right']) yield* partsIn(row, title.childForFieldName(side) ?? title);
  else if (owner && callee?.childForFieldName('property')?.text === 'toString') yield* partsIn(row, owner);
  else if (title.type === 'string') yield { text: textOf(title) };
  else {
    const value = row(title);
    const text = value && textOf(value);
    yield { text, isOfRow: text !== undefined && text !== '' };
  }
}

/** The text of a literal or a key, as it is printed. */
function textOf(node: Node): string | undefined {
  if (/^(property_identifier|string_fragment|number)$/.test(node.type)) return node.text;
  if (node.type !== 'string') return undefined;
  const inner = node.text.slice(1, -1);
  if (!inner.includes('\\')) return inner;
  try {
    return JSON.parse(`"${inner}"`);
  } catch {
    return undefined;
  }
}
