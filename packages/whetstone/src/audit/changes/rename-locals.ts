import type { Node } from '../../syntax/source-parser.ts';
import type { SolvedSource } from '../solved-tree.ts';
import type { Edit } from './changed-solution.ts';

/** Most variables that are renamed in one source. */
const MOST = 5;

/** Code that reaches variables by their names. */
const BY_NAME = /\b(eval|exec|locals|vars|globals|Function)\s*\(|^\s*with\s*\(/m;

/**
 * New names for local variables. Only for one that is declared once in its file, whose name means nothing else there: no
 * property, no keyword argument, no global.
 */
export function renamedLocals(root: Node, source: SolvedSource, isPython: boolean): Edit[] {
  if (BY_NAME.test(source.text)) return [];
  const words = new Map<string, Node[]>();
  collect(root, words);
  const edits: Edit[] = [];
  let renamed = 0;
  for (const [name, uses] of words) {
    if (renamed === MOST) break;
    const scope = isPython ? pythonScope(uses, source) : scriptScope(uses, source);
    const instead = `${name}Value`;
    if (!scope || words.has(instead) || name.length < 2 || /^_|^[A-Z]/.test(name)) continue;
    if (!uses.every((use) => isWithin(use, scope) && isPlain(use))) continue;
    renamed += 1;
    for (const use of uses) edits.push({ from: use.startIndex, to: use.endIndex, text: instead });
  }
  return edits;
}

const WORD =
  /identifier|^(property_identifier|shorthand_property_identifier.*|type_identifier|private_property_identifier)$/;

function collect(node: Node, words: Map<string, Node[]>): void {
  for (const child of node.namedChildren) {
    if (!child) continue;
    if (WORD.test(child.type)) words.set(child.text, [...(words.get(child.text) ?? []), child]);
    collect(child, words);
  }
}

/** Whether a word is only the name of a variable. */
function isPlain(use: Node): boolean {
  if (use.type !== 'identifier') return false;
  const { parent } = use;
  if (!parent) return false;
  if (parent.type === 'attribute' && parent.childForFieldName('attribute')?.id === use.id) return false;
  if (parent.type === 'keyword_argument' && parent.childForFieldName('name')?.id === use.id) return false;
  // `f"{value=}"` prints the name.
  if (parent.type === 'interpolation' && parent.text.includes('=')) return false;
  return !/^(global_statement|nonlocal_statement|import_specifier|export_specifier|dotted_name|aliased_import|namespace_import|import_clause|except_clause|as_pattern_target|labeled_statement)$/.test(
    parent.type,
  );
}

/** The function of a `const` or `let` that is declared once, in a line of the patch. */
function scriptScope(uses: readonly Node[], { lines }: SolvedSource): Node | undefined {
  const declared = uses.filter(
    (use) =>
      use.parent?.type === 'variable_declarator' && use.parent.childForFieldName('name')?.id === use.id,
  );
  const bound = uses.filter((use) =>
    /parameter|pattern|function|class|catch_clause/.test(use.parent?.type ?? ''),
  );
  const [one] = declared;
  if (!one || declared.length > 1 || bound.length > 0 || !lines.has(one.startPosition.row + 1))
    return undefined;
  return functionOf(one, /^(function_declaration|function_expression|arrow_function|method_definition)$/);
}

/** The function of a variable that is assigned there, and nowhere else. */
function pythonScope(uses: readonly Node[], { lines }: SolvedSource): Node | undefined {
  const assigned = uses.filter(
    (use) => use.parent?.type === 'assignment' && use.parent.childForFieldName('left')?.id === use.id,
  );
  const bound = uses.filter((use) =>
    /parameter|function_definition|class_definition|lambda/.test(use.parent?.type ?? ''),
  );
  const [one] = assigned;
  if (!one || bound.length > 0 || !lines.has(one.startPosition.row + 1)) return undefined;
  const scope = functionOf(one, /^function_definition$/);
  // A variable of a function inside is another one, unless it is only read there.
  const isSame = assigned.every((use) => functionOf(use, /^function_definition$/)?.id === scope?.id);
  return isSame ? scope : undefined;
}

function functionOf(node: Node, types: RegExp): Node | undefined {
  for (let one = node.parent; one; one = one.parent) if (types.test(one.type)) return one;
  return undefined;
}

const isWithin = (node: Node, scope: Node): boolean =>
  node.startIndex >= scope.startIndex && node.endIndex <= scope.endIndex;
