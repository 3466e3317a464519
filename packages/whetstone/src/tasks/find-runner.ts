import { dirname } from 'node:path';
import { present } from '@whetstone/events/present';
import type { TestRunnerName } from '../config/schema.ts';

/** How the tests of a part of a repository are run. */
export type FoundRunner = {
  runner: TestRunnerName;
  /** The folder of the package. Absent: the root of the tree. */
  directory?: string;
  options: string[];
};

/** Reads a file of the tree; `undefined` where there is none. */
export type ReadFile = (path: string) => Promise<string | undefined>;

/** Finds the runner of test files by the manifests above them, the nearest first. A text: why there is not one for all. */
export async function findRunner(files: readonly string[], read: ReadFile): Promise<FoundRunner | string> {
  const found = new Map<string, FoundRunner>();
  for (const file of files) {
    const one = await runnerOf(file, read);
    if (!one) return 'no runner that Whetstone can read was found for its tests';
    found.set(JSON.stringify([one.directory, one.runner]), one);
  }
  const [first, second] = found.values();
  return first && !second ? first : 'its tests belong to several packages with runners of their own';
}

async function runnerOf(file: string, read: ReadFile): Promise<FoundRunner | undefined> {
  const find = file.endsWith('.py')
    ? inPython
    : file.endsWith('.go')
      ? inGo
      : file.endsWith('.rs')
        ? inRust
        : inNode;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const at = (name: string) => read(folder === '.' ? name : `${folder}/${name}`);
    const found = await find(at);
    if (found)
      return { options: [], ...found, ...present({ directory: folder === '.' ? undefined : folder }) };
    if (folder === '.') return undefined;
  }
}

type Find = (at: ReadFile) => Promise<{ runner: TestRunnerName; options?: string[] } | undefined>;

const inNode: Find = async (at) => {
  const manifest = parsed(await at('package.json'));
  if (!manifest) return undefined;
  const scripts = Object.entries(manifest.scripts ?? {}).filter(([name]) => /^(test|unit)/.test(name));
  const script = scripts.map(([, text]) => text).join('\n');
  const packages = { ...manifest.dependencies, ...manifest.devDependencies };
  const named = (['vitest', 'jest', 'mocha'] as const).filter((name) =>
    new RegExp(`\\b${name}\\b`).test(script),
  );
  const node = /\bnode\b[^&|;\n]*\s--test\b[^&|;\n]*/.exec(script)?.[0];
  if (named[0]) return { runner: named[0] };
  if (node !== undefined) return { runner: 'node-test', options: nodeOptions(node) };
  const installed = (['vitest', 'jest', 'mocha'] as const).find((name) => Object.hasOwn(packages, name));
  return installed && { runner: installed };
};

/** The options of `node` that tests need to be loaded. */
function nodeOptions(command: string): string[] {
  const words = command.split(/\s+/).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
  return words.flatMap((word, index) => {
    if (
      /^(--(import|require|loader|experimental-[\w-]+|conditions)=|--experimental-|--no-warnings|--expose-gc)/.test(
        word,
      )
    )
      return [word];
    const value = words[index + 1];
    return /^(--(import|require|loader|conditions)|-r|-C)$/.test(word) && value !== undefined
      ? [word, value]
      : [];
  });
}

const inPython: Find = async (at) => {
  for (const name of [
    'pytest.ini',
    'pyproject.toml',
    'setup.cfg',
    'tox.ini',
    'setup.py',
    'requirements.txt',
  ]) {
    const text = await at(name);
    if (text !== undefined) return { runner: 'pytest' };
  }
  return undefined;
};

const inGo: Find = async (at) => ((await at('go.mod')) === undefined ? undefined : { runner: 'go-test' });

const inRust: Find = async (at) =>
  (await at('Cargo.toml')) === undefined ? undefined : { runner: 'cargo-test' };

type Manifest = Partial<Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>>>;

function parsed(text: string | undefined): Manifest | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
