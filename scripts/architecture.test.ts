import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The rows of a table of docs/architecture.md, as the texts of their cells without backticks. */
function tableBelow(heading: string): string[][] {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const table = page.slice(page.indexOf(`${heading}\n`)).match(/(?:^\|.*\n)+/m)?.[0] ?? '';
  const rows = table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').slice(1, -1));
  return rows.map((cells) => cells.map((cell) => cell.replaceAll('`', '').trim()));
}

/** Packages and their floor. */
const FLOORS = new Map(
  tableBelow('# Architecture').map(([floor, name = '']) => [name.replace('@whetstone/', ''), Number(floor)]),
);

/** Folders of the evaluator: which of its other folders each may import. */
const MAY_IMPORT_FOLDER: [string, string[]][] = tableBelow('## Folders of the evaluator').map(
  ([folder = '', , imports = '']) => [folder.replace(/\/$/, ''), imports === '–' ? [] : imports.split(', ')],
);

/** Tests of more than 400 lines, and why each stays in one file. */
const LONG_TESTS = {
  'packages/agents/src/http/http.test.ts': 'five APIs, played by one server',
  'packages/gateway/src/forward/forward.test.ts': 'one upstream, started once',
  'packages/gateway/src/wire/meter.test.ts': 'one list of answers for every wire',
  'packages/loop/src/apply-patch/apply-patch.test.ts': 'one list of patches',
  'packages/loop/src/session/session-resume.test.ts': 'one scripted model and its snapshots',
  'packages/loop/src/subagents/subagents.test.ts': 'one scripted model and its subagents',
  'packages/loop/src/tools/native/native-tools.test.ts': 'one list of calls for every profile',
  'packages/sandbox/src/__fixtures__/sandbox-suite.ts': 'one contract, played against every sandbox',
  'packages/view/src/page.slow.test.ts': 'one browser and one run',
  'packages/whetstone/src/cli/gateway.test.ts': 'one gateway program and its clients',
  'packages/whetstone/src/config/load-config-errors.test.ts': 'one list of wrong configurations',
  'packages/whetstone/src/report/summarize.test.ts': 'one list of rows and their summaries',
  'packages/whetstone/src/workspace/create-workspaces.test.ts': 'one repository, made once',
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
  test.each([...FLOORS])('%s imports only packages of floors below %i', (name, floor) => {
    const wrong = sources(`packages/${name}/src/**/*.{ts,js}`)
      .flatMap(imports)
      .filter(({ specifier }) => {
        const target = packageOf(specifier);
        // The page talks to the evaluator over HTTP.
        const isBelow = name !== 'view' && (FLOORS.get(target ?? '') ?? floor) < floor;
        return target !== undefined && target !== name && !isBelow;
      });
    expect(wrong).toEqual([]);
  });

  test('the tables of docs/architecture.md have every package and every folder', () => {
    const folders = (name: string) =>
      sources(`packages/${name}/src/*/**/*.ts`).map((file) => `${file.split('/')[3]}/`);
    const first = (heading: string) => tableBelow(heading).map(([folder]) => folder);
    expect([...FLOORS.keys()].sort()).toEqual(
      globSync('*/', { cwd: join(root, 'packages') })
        .map((path) => basename(path))
        .sort(),
    );
    expect(first('## Folders of the evaluator')).toEqual(
      expect.arrayContaining(folders('whetstone').filter((name) => name !== 'testkit/')),
    );
    expect(first('## Folders of the agents').map((name) => `${name?.split('/')[0]}/`)).toEqual(
      expect.arrayContaining(folders('agents').filter((name) => name !== '__fixtures__/')),
    );
    expect(first('## The loop')).toEqual(
      expect.arrayContaining(folders('loop').filter((name) => name !== '__fixtures__/')),
    );
  });

  test.each(MAY_IMPORT_FOLDER)('%s imports the folders it may', (name, allowed) => {
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

  test('no file has more than 400 lines, except the tests in a list with reasons', () => {
    const long = globSync('{packages/*/src,scripts,benchmarks,examples}/**/*.{ts,js,css}', { cwd: root })
      .filter((file) => !/node_modules|\.stream\./.test(file))
      .filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1 > 400);
    expect(long.filter((file) => !(file in LONG_TESTS))).toEqual([]);
  });

  test.each(['Turn', 'Place', 'AgentContext'])('%s is the name of at most one type', (name) => {
    const declared = new RegExp(
      `^(?:export )?(?:type|interface) ${name}\\b(?! =? ?[,}])|@typedef .*\\} ${name} `,
      'm',
    );
    const files = sources('{packages,scripts,benchmarks,examples}/**/*.{ts,js}').filter((file) =>
      declared.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(files.length).toBeLessThan(2);
  });

  test('a field that may be absent is spread with `present`', () => {
    // Floors 0 and 1 do not have it, except its own package.
    const inline = /\.\.\.\(([\w.#]+) !== undefined && \{ (?:\w+: )?\1 \}\)/;
    const files = sources(
      '{packages/{events,gateway,loop,agents,whetstone}/src,scripts,benchmarks,examples}/**/*.ts',
    );
    expect(files.filter((file) => inline.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  test('the text of a thrown value comes from `messageOf`', () => {
    const inline = /instanceof Error \? (\w+)\.message : String\(\1\)|\(\w+ as Error\)\.message/;
    const wrong = sources('packages/*/src/**/*.ts').filter((file) =>
      inline.test(readFileSync(join(root, file), 'utf8')),
    );
    // Its functions run as the text of a program, without imports.
    expect(wrong).toEqual(['packages/sandbox/src/process/launcher-program.ts']);
  });

  test('only agents, sandboxes and the configuration name a particular agent or sandbox technology', () => {
    const named = sources('packages/whetstone/src/**/*.ts')
      .filter((file) => !/src\/(config|environment|init|workspace)\//.test(file))
      // Tasks of another tool are containers.
      .filter((file) => !file.includes('/tasks/harbor/'))
      .filter((file) => !/src\/cli\/(main|\w+-commands)/.test(file))
      // What comes of an attack is said per sandbox.
      .filter((file) => !file.includes('/testkit/attacks/'))
      // Their columns and files have the names that another tool gave them.
      .filter((file) => !/\/report\/context-eval-csv\.ts$|\/tasks\/harbor\//.test(file))
      .filter((file) => /codex|claude|gemini|opencode|unshare|bubblewrap|docker/i.test(code(file)));
    expect(named).toEqual([]);
  });
});

describe('imports run in one direction, type imports too', () => {
  test.each([...FLOORS.keys()])('between the files of %s', (name) => {
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
