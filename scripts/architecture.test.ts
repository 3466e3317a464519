import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Packages by floor: a package only imports packages of lower floors (docs/architecture.md). */
const MAY_IMPORT_PACKAGE: Record<string, string[]> = {
  errors: [],
  events: ['errors'],
  sandbox: ['errors'],
  gateway: ['errors', 'events', 'sandbox'],
  loop: ['errors', 'events', 'sandbox'],
  agents: ['errors', 'events', 'sandbox', 'gateway', 'loop'],
  whetstone: ['errors', 'events', 'sandbox', 'gateway', 'loop', 'agents'],
};

/** Folders of the evaluator: which of its other folders each may import. */
const MAY_IMPORT_FOLDER: Record<string, string[]> = {
  config: [],
  plan: ['config', 'stats'],
  workspace: ['config', 'record'],
  record: [],
  gateway: ['config', 'record'],
  init: [],
  capture: ['report', 'workspace'],
  verify: ['config', 'record', 'workspace'],
  tasks: ['config', 'environment', 'verify', 'workspace'],
  eval: ['config', 'stats'],
  environment: ['config', 'plan', 'record', 'verify', 'workspace'],
  try: ['config', 'plan', 'record', 'stats', 'workspace'],
  attempt: ['config', 'environment', 'eval', 'plan', 'record', 'verify', 'workspace'],
  stats: [],
  report: ['record', 'stats'],
  run: [
    'attempt',
    'config',
    'environment',
    'eval',
    'gateway',
    'plan',
    'record',
    'report',
    'verify',
    'workspace',
  ],
  testkit: [],
  cli: [
    'capture',
    'config',
    'environment',
    'eval',
    'gateway',
    'init',
    'plan',
    'record',
    'report',
    'run',
    'tasks',
    'try',
    'verify',
    'view',
    'workspace',
  ],
  view: ['record', 'report'],
  'eval/agreement': ['stats'],
  'eval/judge': ['config', 'eval/expect'],
  'eval/expect': [],
  'eval/assertions': ['eval/expect'],
};

/** `@whetstone/agents/config` → `agents`; `undefined` for other packages. */
const packageOf = (specifier: string): string | undefined =>
  specifier === 'whetstone' || specifier.startsWith('whetstone/')
    ? 'whetstone'
    : /^@whetstone\/([^/]+)/.exec(specifier)?.[1];

type Import = { file: string; specifier: string };

const sources = (pattern: string): string[] =>
  globSync(pattern, { cwd: root }).filter(
    (file) => !/node_modules|__fixtures__|\.test\.ts$/.test(file) && !file.includes('__fixtures__'),
  );

const imports = (file: string): Import[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(?<specifier>[^']+)'/g)].map(
    ({ groups }) => ({ file, specifier: groups?.specifier ?? '' }),
  );

describe('the house', () => {
  test.each(Object.entries(MAY_IMPORT_PACKAGE))(
    '%s imports packages of lower floors only',
    (name, allowed) => {
      const wrong = sources(`packages/${name}/src/**/*.ts`)
        .flatMap(imports)
        .filter(({ specifier }) => {
          const target = packageOf(specifier);
          return target !== undefined && target !== name && !allowed.includes(target);
        });
      expect(wrong).toEqual([]);
    },
  );

  test.each(Object.entries(MAY_IMPORT_FOLDER))('%s imports the folders it may', (name, allowed) => {
    const folder = `packages/whetstone/src/${name}`;
    const wrong = sources(`${folder}/**/*.ts`)
      .flatMap(imports)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => {
        const target = relative('packages/whetstone/src', join(dirname(file), specifier));
        const isBelow = (folder: string) => target.startsWith(`${folder}/`);
        return target.includes('/') && !isBelow(name) && !allowed.some(isBelow);
      });
    expect(wrong).toEqual([]);
  });

  test('no file has more than 400 lines', () => {
    const long = sources('packages/*/src/**/*.{ts,js}')
      .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });

  test('only agents, sandboxes and the configuration name a particular agent or sandbox technology', () => {
    const named = sources('packages/whetstone/src/**/*.ts')
      .filter((file) => !/src\/(config|environment|init|workspace)\//.test(file))
      // Tasks of another tool are containers.
      .filter((file) => !file.includes('/tasks/harbor/'))
      .filter((file) => !/src\/cli\/(main|\w+-commands)/.test(file))
      // Their columns and files have the names that another tool gave them.
      .filter((file) => !/\/report\/context-eval-csv\.ts$|\/tasks\/harbor\//.test(file))
      .filter((file) => /codex|claude|gemini|opencode|unshare|bubblewrap|docker/i.test(code(file)));
    expect(named).toEqual([]);
  });
});

/** Packages whose files do not import each other in a circle. To be widened to `agents` and `whetstone`. */
const WITHOUT_CIRCLES = ['errors', 'events', 'gateway', 'loop', 'sandbox', 'agents', 'whetstone', 'view'];

describe('imports run in one direction, type imports too', () => {
  test.each(WITHOUT_CIRCLES)('between the files of %s', (name) => {
    const graph = importGraph(name);
    expect(graph.size).toBeGreaterThan(1);
    expect(circles(graph)).toEqual([]);
  });

  test('between the folders of loop', () => {
    expect(circles(folderGraph(importGraph('loop')))).toEqual([]);
  });
});

/** What each file or folder imports. */
type Graph = Map<string, string[]>;

/** The files of a package, by their path below `src`. */
function importGraph(name: string): Graph {
  const source = `packages/${name}/src`;
  const targets = (file: string) =>
    imports(file)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => relative(source, join(dirname(file), specifier)));
  return new Map(sources(`${source}/**/*.{ts,js}`).map((file) => [relative(source, file), targets(file)]));
}

function folderGraph(files: Graph): Graph {
  const graph: Graph = new Map();
  for (const [file, targets] of files) {
    const folder = dirname(file);
    const others = targets.map((target) => dirname(target)).filter((other) => other !== folder);
    graph.set(folder, [...(graph.get(folder) ?? []), ...others]);
  }
  return graph;
}

/** Each circle as `a → b → a`; of circles that share a part, at least one. */
function circles(graph: Graph): string[] {
  const seen = new Set<string>();
  const visit = (node: string, path: string[]): string[] => {
    if (path.includes(node)) return [[...path.slice(path.indexOf(node)), node].join(' → ')];
    if (seen.has(node)) return [];
    seen.add(node);
    return (graph.get(node) ?? []).flatMap((next) => visit(next, [...path, node]));
  };
  return [...new Set([...graph.keys()].flatMap((node) => visit(node, [])))];
}

/** The text of a file without its comments and without the names of configuration values. */
function code(file: string): string {
  return readFileSync(join(root, file), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replaceAll("'codex-jsonl'", '');
}
