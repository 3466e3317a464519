import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from '@whetstone/agents/config';
import { hiddenByDefault } from '@whetstone/agents/evaluator';
import { isJsonObject, parseJson } from '@whetstone/events';
import picomatch from 'picomatch';
import { hashSource, listSource, type SourceEntry } from '../config/source-tree.ts';

/** A folder of files that an agent starts with, and of tests that it must not see. */
export type Fixture = {
  /** What the agent finds in its workspace. */
  visible: { root: string; entries: SourceEntry[] };
  /** A folder with only the hidden tests, and what runs them. `undefined`: there are none. */
  hiddenTests?: string;
  /** Runs the hidden tests, or those of the project where none are hidden. */
  tests: Command;
  /** Installs what package.json names. */
  setup: Command[];
  /** The text of PROMPT.md. */
  prompt?: string;
};

const VITEST_CONFIG = '.eval.vitest.config.mjs';
const TEST_FILE = /^EVAL\.\w+$|\.(?:test|spec)\.\w+$/;
const SKIPPED = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;

/** Reads a fixture. `store`: a folder of ours, which gets the hidden files under their content. */
export async function readFixture(root: string, store: string): Promise<Fixture> {
  const isHidden = picomatch([...hiddenByDefault], { dot: true });
  const entries = (await listSource(root)).filter(({ path }) => !SKIPPED.test(path));
  const hidden = entries.filter(({ path }) => isHidden(path) && path !== 'PROMPT.md');
  const tests = hidden.map(({ path }) => path).filter((path) => TEST_FILE.test(path));
  const promptFile = join(root, 'PROMPT.md');
  const isOfNode = await usesNodeTest(hidden);
  return {
    visible: { root, entries: entries.filter(({ path }) => !isHidden(path)) },
    tests: testCommand(tests, isOfNode),
    setup: await setupOf(root),
    ...(hidden.length > 0 && { hiddenTests: await keepHidden(root, hidden, tests, store) }),
    ...(existsSync(promptFile) && { prompt: await readFile(promptFile, 'utf8') }),
  };
}

/** Vitest is that of the fixture; nothing is downloaded but what its package.json names. */
function testCommand(tests: readonly string[], isOfNode: boolean): Command {
  if (isOfNode) return { kind: 'argv', argv: ['node', '--test', ...tests] };
  const vitest = ['npx', '--no', '--', 'vitest', 'run'];
  return { kind: 'argv', argv: tests.length === 0 ? vitest : [...vitest, '--config', VITEST_CONFIG] };
}

async function usesNodeTest(hidden: readonly SourceEntry[]): Promise<boolean> {
  const tests = hidden.filter(({ path }) => TEST_FILE.test(path));
  const texts = await Promise.all(tests.map(({ absolute }) => readFile(absolute, 'utf8')));
  return texts.length > 0 && texts.every((text) => /from\s+['"]node:test['"]/.test(text));
}

async function setupOf(root: string): Promise<Command[]> {
  const text = await readFile(join(root, 'package.json'), 'utf8').catch(() => undefined);
  const manifest = text === undefined ? undefined : parseJson(text);
  const named = isJsonObject(manifest) ? [manifest.dependencies, manifest.devDependencies] : [];
  if (!named.some((one) => isJsonObject(one) && Object.keys(one).length > 0)) return [];
  const install = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install';
  return [{ kind: 'argv', argv: ['npm', install, '--no-audit', '--no-fund'] }];
}

/** A folder with the hidden files only. The same files always are in the same folder. */
async function keepHidden(
  root: string,
  hidden: readonly SourceEntry[],
  tests: readonly string[],
  store: string,
): Promise<string> {
  const target = join(store, `hidden-${(await hashSource(root)).slice(0, 16)}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  for (const { path, absolute } of hidden) {
    await mkdir(dirname(join(draft, path)), { recursive: true });
    await cp(absolute, join(draft, path), { verbatimSymlinks: true });
  }
  const include = tests.map((path) => path.replaceAll(/[\\()[\]{}!*?+@|]/g, '\\$&'));
  const config = { test: { include, cache: false } };
  await writeFile(join(draft, VITEST_CONFIG), `export default ${JSON.stringify(config)};\n`);
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }));
  return target;
}
