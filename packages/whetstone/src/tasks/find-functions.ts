import { grammarOf, type Node, openSourceParser } from '../syntax/source-parser.ts';

/** A function whose code can be taken out. */
export type FoundFunction = {
  /** With its class: `Parser.next`; `default` for a default export without a name. */
  name: string;
  /** Lines of its body, at least 1. */
  lines: number;
  /** What is replaced, in UTF-16 units of the text, and what stands there afterwards. */
  from: number;
  to: number;
  instead: string;
};

const FUNCTIONS = new Set([
  'function_declaration',
  'generator_function_declaration',
  'function_expression',
  'generator_function',
  'arrow_function',
  'method_definition',
  'function_definition',
]);
const CLASSES = new Set(['class_declaration', 'abstract_class_declaration', 'class_definition']);

export const isParsed = (path: string): boolean => grammarOf(path) !== undefined;

/** Finds the named functions of files that stand in no other function. A file that cannot be parsed has none. */
export async function openFunctionFinder() {
  const parse = await openSourceParser();
  return async (path: string, text: string): Promise<FoundFunction[]> =>
    (await parse(path, text, (root) => [...functionsIn(root, text, '')])) ?? [];
}

function* functionsIn(node: Node, text: string, owner: string): Generator<FoundFunction> {
  for (const child of node.namedChildren) {
    if (!child) continue;
    if (!FUNCTIONS.has(child.type)) {
      const name = CLASSES.has(child.type) ? child.childForFieldName('name')?.text : undefined;
      yield* functionsIn(child, text, name === undefined ? owner : `${owner}${name}.`);
      continue;
    }
    const own = nameOf(child);
    const body = child.childForFieldName('body');
    // A class cannot be made without its constructor, so its tests would not say what is missing.
    if (own === undefined || !body || /^(constructor|__init__)$/.test(own)) continue;
    const name = `${owner}${own}`;
    const replaced =
      child.type === 'function_definition' ? inPython(body, name) : inJavaScript(body, name, text);
    if (replaced) yield { name, ...replaced };
  }
}

function nameOf(node: Node): string | undefined {
  const own = node.childForFieldName('name')?.text;
  if (own !== undefined) return own;
  const { parent } = node;
  if (parent?.type === 'export_statement') return 'default';
  const named = ['name', 'key', 'left'].flatMap((field) => parent?.childForFieldName(field)?.text ?? []);
  return /[\w$]+$/.exec(named[0] ?? '')?.[0];
}

function inJavaScript(body: Node, name: string, text: string) {
  const start = text.lastIndexOf('\n', body.startIndex - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
  const inner = body.type === 'statement_block' ? body.text.slice(1, -1) : body.text;
  if (inner.trim() === '') return undefined;
  const instead = `{\n${indent}  throw new Error('${name} is not written yet');\n${indent}}`;
  return { lines: linesOf(inner), from: body.startIndex, to: body.endIndex, instead };
}

/** The text that documents a function stays. */
function inPython(body: Node, name: string) {
  const statements = body.namedChildren.filter((one) => one && one.type !== 'comment');
  const isDocumented = statements[0]?.namedChildren[0]?.type === 'string';
  const first = statements[isDocumented ? 1 : 0];
  if (!first) return undefined;
  return {
    lines: linesOf(body.text.slice(first.startIndex - body.startIndex)),
    ...{ from: first.startIndex, to: body.endIndex },
    instead: `raise NotImplementedError('${name} is not written yet')`,
  };
}

const linesOf = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length;
