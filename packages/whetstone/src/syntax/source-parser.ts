import { createRequire } from 'node:module';
import treeSitter, { type Node } from '@vscode/tree-sitter-wasm';

export type { Node } from '@vscode/tree-sitter-wasm';

export type Grammar = 'typescript' | 'tsx' | 'javascript' | 'python';

const GRAMMARS: readonly (readonly [RegExp, Grammar])[] = [
  [/\.[cm]?ts$/, 'typescript'],
  [/\.tsx$/, 'tsx'],
  [/\.([cm]?js|jsx)$/, 'javascript'],
  [/\.py$/, 'python'],
];

/** The grammar of a file, by its name. */
export const grammarOf = (path: string): Grammar | undefined =>
  GRAMMARS.find(([pattern]) => pattern.test(path))?.[1];

/**
 * Parses a text by the name of its file, and calls `read` with the root of its tree, which lives as long as the call.
 * `undefined`: there is no grammar for it, or the text has an error.
 */
export type SourceParser = <T>(path: string, text: string, read: (root: Node) => T) => Promise<T | undefined>;

/** Loads the parser. A grammar is loaded with the first file that needs it. */
export async function openSourceParser(): Promise<SourceParser> {
  const { Parser, Language } = treeSitter;
  await Parser.init();
  const { resolve } = createRequire(import.meta.url);
  const languages = new Map<Grammar, InstanceType<typeof Language>>();
  return async (path, text, read) => {
    const grammar = grammarOf(path);
    if (grammar === undefined) return undefined;
    const file = `@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`;
    const language = languages.get(grammar) ?? (await Language.load(resolve(file)));
    languages.set(grammar, language);
    const parser = new Parser();
    const tree = parser.setLanguage(language).parse(text);
    try {
      return tree && !tree.rootNode.hasError ? read(tree.rootNode) : undefined;
    } finally {
      tree?.delete();
      parser.delete();
    }
  };
}
