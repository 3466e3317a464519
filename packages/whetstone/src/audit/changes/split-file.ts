import { posix } from 'node:path';
import type { Node } from '../../syntax/source-parser.ts';
import type { SolvedSource } from '../solved-tree.ts';
import { edited } from './changed-solution.ts';

/**
 * Moves an exported function of an ES module to a file of its own, and exports it again. Only one that uses nothing of its
 * module. Python's modules and those of CommonJS are left as they are: what is moved there can be found under two names.
 */
export function splitFile(
  root: Node,
  { path, text, lines }: SolvedSource,
): { path: string; files: Map<string, string> } | undefined {
  const end = /\.(mjs|js|ts|mts)$/.exec(path)?.[0];
  if (end === undefined) return undefined;
  const top = new Set<string>();
  for (const child of root.namedChildren) if (child) names(child, top);
  for (const child of root.namedChildren) {
    if (child?.type !== 'export_statement' || /^export\s+default/.test(child.text)) continue;
    const declaration = child.childForFieldName('declaration');
    const name = declaration?.childForFieldName('name')?.text;
    if (declaration?.type !== 'function_declaration' || name === undefined) continue;
    if (!lines.has(child.startPosition.row + 1)) continue;
    const used = new Set<string>();
    words(declaration, used);
    const needed = [...used].filter((word) => word !== name && top.has(word));
    if (needed.length > 0 || /\bimport\b|\bthis\b/.test(declaration.text)) continue;
    const own = `${posix.basename(path, end)}-${name}${end}`;
    const file = posix.join(posix.dirname(path), own);
    const instead = `import { ${name} } from './${own}';\nexport { ${name} };`;
    return {
      path: file,
      files: new Map([
        [path, edited(text, [{ from: child.startIndex, to: child.endIndex, text: instead }])],
        [file, `${child.text}\n`],
      ]),
    };
  }
  return undefined;
}

/** Every name that a statement of a module can declare. */
function names(node: Node, found: Set<string>): void {
  const isDeclaration = /declaration|^(import_statement|export_statement|variable_declarator|enum)/.test(
    node.type,
  );
  const own = node.childForFieldName('name');
  if (own) words(own, found);
  if (node.type === 'import_statement') words(node, found);
  if (isDeclaration)
    for (const child of node.namedChildren) if (child && !/body|block/.test(child.type)) names(child, found);
}

function words(node: Node, found: Set<string>): void {
  if (/identifier/.test(node.type)) found.add(node.text);
  for (const child of node.namedChildren) if (child) words(child, found);
}
