import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { present } from '@whetstone/events/present';
import type { TaskConfig } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';
import { grammarOf, type Node } from '../syntax/source-parser.ts';
import { classifyPath } from '../tasks/classify-path.ts';
import type { Target, TargetSource } from '../testkit/attacks/attack.ts';
import { commandText } from '../verify/run-commands.ts';
import type { TaskAuditOptions } from './bench.ts';
import type { SolvedTree } from './solved-tree.ts';

/** What attacks on a task are about: the sources that its patch changes, else those that its tests import. */
export async function targetOf(
  task: TaskConfig,
  { base, sources }: Pick<SolvedTree, 'base' | 'sources'>,
  { parse, upstreams, room }: Pick<TaskAuditOptions, 'parse' | 'upstreams' | 'room'>,
): Promise<Target> {
  const tests = await testsOf(task);
  const texts = new Map<string, string>(sources.map(({ path, text }) => [path, text]));
  if (texts.size === 0)
    for (const path of await importedBy(tests, base)) {
      const text = await readFile(join(base, path), 'utf8').catch(() => undefined);
      if (text !== undefined) texts.set(path, text);
    }
  const found: TargetSource[] = [];
  for (const [path, text] of texts) {
    const source = await parse(path, text, (root) => sourceOf(path, root));
    if (source) found.push(source);
  }
  const packageName = await nameOf(base);
  return {
    sources: found,
    tests: [...tests.keys()],
    commands: task.validation.commands.map(commandText),
    upstreams,
    isConfined: (await room.describe()).level > 0,
    ...present({ packageName, goldPatch: task.goldPatch, hiddenTests: task.hiddenTests }),
  };
}

/** The tests of a task by path: those that it names, and hidden ones. `null`: their text is in the tree. */
async function testsOf(task: TaskConfig): Promise<Map<string, string | null>> {
  const tests = new Map<string, string | null>(task.validation.tests?.files.map((path) => [path, null]));
  const hidden = task.hiddenTests === undefined ? [] : await listSource(task.hiddenTests);
  for (const entry of hidden)
    if (entry.kind === 'file' && classifyPath(entry.path) === 'test')
      tests.set(entry.path, await readFile(entry.absolute, 'utf8'));
  for (const { groups } of task.validation.commands.flatMap((command) => [
    ...commandText(command).matchAll(/(?<path>[\w./-]+\.(?:[cm]?[jt]sx?|py))\b/g),
  ])) {
    const path = groups?.path ?? '';
    if (classifyPath(path) === 'test' && !tests.has(path)) tests.set(path, null);
  }
  return tests;
}

async function importedBy(tests: ReadonlyMap<string, string | null>, base: string): Promise<string[]> {
  const found = new Set<string>();
  for (const [path, hidden] of tests) {
    const text = hidden ?? (await readFile(join(base, path), 'utf8').catch(() => ''));
    for (const [, named = ''] of text.matchAll(/(?:from|require\(|import\(?)\s*['"](\.{1,2}\/[^'"]+)['"]/g))
      found.add(posix.join(posix.dirname(path), named));
    for (const [, named = ''] of text.matchAll(/^\s*(?:from|import)\s+([\w.]+)/gm))
      found.add(`${named.replaceAll('.', '/')}.py`);
  }
  return [...found];
}

async function nameOf(base: string): Promise<string | undefined> {
  const read = (name: string) => readFile(join(base, name), 'utf8').catch(() => '');
  const text = await read('package.json');
  try {
    const { name, private: isPrivate } = JSON.parse(text) as { name?: unknown; private?: unknown };
    return typeof name === 'string' && /^[\w@/.-]+$/.test(name) && isPrivate !== true ? name : undefined;
  } catch {
    // The `name` of `[project]`.
    return /^\[project\][^[]*?^name\s*=\s*["']([\w.-]+)["']/ms.exec(await read('pyproject.toml'))?.[1];
  }
}

function sourceOf(path: string, root: Node): TargetSource {
  if (grammarOf(path) === 'python') return { path, format: 'python', exports: pythonNames(root) };
  const statements = root.namedChildren.flatMap((child) => child ?? []);
  const isModule =
    /\.(mjs|[cm]?ts|tsx)$/.test(path) ||
    statements.some(({ type }) => /^(import|export)_statement$/.test(type));
  return isModule
    ? { path, format: 'module', exports: [...new Set(statements.flatMap(exportedBy))] }
    : { path, format: 'commonjs', exports: [...new Set(commonNames(root.text))] };
}

const NAME_TYPES = new Set(['interface_declaration', 'type_alias_declaration']);

/** The names that an `export` of a module gives values. */
function exportedBy(statement: Node): string[] {
  if (statement.type !== 'export_statement') return [];
  if (/^export\s+default\b/.test(statement.text)) return ['default'];
  if (/^export\s+type\b/.test(statement.text)) return [];
  const declaration = statement.childForFieldName('declaration');
  if (declaration) {
    if (NAME_TYPES.has(declaration.type)) return [];
    const own = declaration.childForFieldName('name')?.text;
    if (own !== undefined) return [own];
    return declaration.namedChildren.flatMap((one) => {
      const name = one?.type === 'variable_declarator' ? one.childForFieldName('name') : undefined;
      return name?.type === 'identifier' ? [name.text] : [];
    });
  }
  const clause = statement.namedChildren.find((one) => one?.type === 'export_clause');
  return (clause?.namedChildren ?? []).flatMap((one) => {
    const name = one?.childForFieldName('alias') ?? one?.childForFieldName('name');
    return name ? [name.text] : [];
  });
}

function commonNames(text: string): string[] {
  const named = [...text.matchAll(/\b(?:module\.)?exports\.(\w+)\s*=/g)].flatMap(([, name]) => name ?? []);
  const whole = /\bmodule\.exports\s*=\s*(\{[^}]*\})?/.exec(text);
  if (!whole) return named;
  const [, record] = whole;
  if (record === undefined) return ['default', ...named];
  return [...named, ...[...record.matchAll(/[{,]\s*(?:\.\.\.)?(\w+)/g)].flatMap(([, name]) => name ?? [])];
}

function pythonNames(root: Node): string[] {
  const names = root.namedChildren.flatMap((child) => {
    const one = child?.type === 'decorated_definition' ? child.childForFieldName('definition') : child;
    if (!one) return [];
    if (/^(function|class)_definition$/.test(one.type)) return one.childForFieldName('name')?.text ?? [];
    const left =
      one.namedChildren[0]?.type === 'assignment' ? one.namedChildren[0].childForFieldName('left') : null;
    return left?.type === 'identifier' ? left.text : [];
  });
  return [...new Set(names)];
}
