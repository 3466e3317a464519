import { basename } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { type Node, openSourceParser, type SourceParser } from '../syntax/source-parser.ts';

/** Keys of test runners and transpilers whose values name code that the runner loads. */
const KEYS = new Set([
  ...['setupFiles', 'setupFilesAfterEnv', 'globalSetup', 'globalTeardown', 'testEnvironment', 'environment'],
  ...['runner', 'testRunner', 'resolver', 'transform', 'reporter', 'reporters', 'testSequencer', 'sequencer'],
  ...['snapshotSerializers', 'snapshotEnvironment', 'snapshotResolver', 'preset', 'presets', 'plugins'],
  ...['extends', 'projects', 'workspace', 'watchPlugins', 'dependencyExtractor', 'provider', 'diff'],
  ...['require', 'import', 'file', 'loader', 'ui', 'node-option', 'nodeArguments'],
]);

/** The keys of package.json that hold the settings of a test runner or a transpiler. */
export const RUNNER_KEYS = ['jest', 'mocha', 'ava', 'tap', 'babel', 'nyc', 'c8', 'postcss'];

/** What a file of settings names: modules that it imports, and code that its runner loads. As it is written there. */
export type NamedFiles = { imports: string[]; named: string[] };

let opening: Promise<SourceParser> | undefined;

/** Reads settings in JavaScript, TypeScript, JSON, YAML, INI and TOML, and the plugins of a `conftest.py`. */
export async function namedFiles(path: string, text: string): Promise<NamedFiles> {
  const name = basename(path);
  if (/\.(py|ini|toml|cfg)$/.test(name)) return { imports: [], named: pytestPlugins(text) };
  if (/\.ya?ml$/.test(name)) return { imports: [], named: namedBelow(yamlOf(text)) };
  opening ??= openSourceParser();
  const parse = await opening;
  if (!/\.([cm]?[jt]sx?)$/.test(name)) {
    const value = await parse('settings.js', `(${text})`, (root) => namedIn(root, name === 'package.json'));
    return { imports: [], named: value ?? namedBelow(yamlOf(text)) };
  }
  const found = await parse(path, text, (root) => ({
    imports: importedIn(root),
    named: namedIn(root, false),
  }));
  return found ?? { imports: [], named: [] };
}

/** The texts below the keys of runners. `isPackage`: only below the keys of package.json that are about them. */
function namedIn(root: Node, isPackage: boolean): string[] {
  return pairsOf(root).flatMap((pair) => {
    const key = unquoted(pair.childForFieldName('key')?.text ?? '');
    const value = pair.childForFieldName('value');
    if (!value) return [];
    if (isPackage) return RUNNER_KEYS.includes(key) && isAtTop(pair) ? namedIn(value, false) : [];
    return KEYS.has(key) ? textsOf(value) : [];
  });
}

const pairsOf = (root: Node): Node[] => root.descendantsOfType('pair').flatMap((one) => one ?? []);

/** Whether a pair belongs to the outermost object of a JSON file. */
function isAtTop({ parent }: Node): boolean {
  for (let one = parent?.parent; one; one = one.parent) if (one.type === 'object') return false;
  return true;
}

/** Texts, but not those that are keys. */
const textsOf = (value: Node): string[] =>
  value.descendantsOfType(['string', 'template_string']).flatMap((one) => {
    const isKey = one?.parent?.type === 'pair' && one.parent.childForFieldName('key')?.id === one.id;
    return one && !isKey ? unquoted(one.text) : [];
  });

function importedIn(root: Node): string[] {
  const statements = root.descendantsOfType(['import_statement', 'export_statement']);
  const sources = statements.flatMap((one) => one?.childForFieldName('source') ?? []);
  const calls = root.descendantsOfType('call_expression').flatMap((call) => {
    const callee = call?.childForFieldName('function')?.text ?? '';
    if (!/^(import|require(\.resolve)?)$/.test(callee)) return [];
    return call?.childForFieldName('arguments')?.namedChildren[0] ?? [];
  });
  return [...sources, ...calls].map(({ text }) => unquoted(text));
}

const unquoted = (text: string): string => text.replace(/^(['"`])(.*)\1$/s, '$2');

/** `pytest_plugins = ['tests.fixtures']`, and `-p tests.plugin` among options. */
function pytestPlugins(text: string): string[] {
  const lists = [...text.matchAll(/^pytest_plugins\b[^=]*=\s*([[({][^\])}]*[\])}]|.*)$/gm)];
  const listed = lists.flatMap(([, list = '']) => [...list.matchAll(/['"]([\w.]+)['"]/g)]);
  const options = [...text.matchAll(/(?<![\w-])-p[\s=]*["']?([\w.]+)/g)];
  return [...listed, ...options].flatMap(([, module]) => (module === undefined ? [] : moduleFile(module)));
}

/** A module of Python as the path of a file, from the root of the tree. */
export const moduleFile = (module: string): string => `/${module.replaceAll('.', '/')}`;

function yamlOf(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return undefined; // the runner cannot read it either
  }
}

function namedBelow(value: unknown, isNamed = false): string[] {
  if (typeof value === 'string') return isNamed ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => namedBelow(one, isNamed));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => namedBelow(one, isNamed || KEYS.has(key)));
}
