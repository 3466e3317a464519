import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Commands that install what a repository needs, and the file that says so. */
export type Preparation = {
  commands: string[];
  from: string;
  /** Set where the commands need more than manifests and lock files. */
  inputs?: 'all';
};

/**
 * How the packages of a repository are installed, the likeliest first: what was written for agents, what the lock files at
 * its root say, other workflows, and the development container. It only reads; nothing is run.
 */
export function findPreparations(root: string): Preparation[] {
  const locked = lockedInstall(root) ?? [];
  const found = [...forAgents(root), locked, ...workflows(root), ...container(root)].flat();
  const seen = new Set<string>();
  return found.filter(({ commands }) => {
    const key = commands.join('\n');
    const isNew = key !== '' && !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

const WORKFLOWS = '.github/workflows';
const FOR_AGENTS = /^copilot-setup-steps\.ya?ml$/;

function forAgents(root: string): Preparation[] {
  return workflowFiles(root)
    .filter((name) => FOR_AGENTS.test(name))
    .map((name) => described(runLines(root, name), join(WORKFLOWS, name)));
}

function workflows(root: string): Preparation[] {
  return workflowFiles(root)
    .filter((name) => !FOR_AGENTS.test(name))
    .map((name) =>
      described([...new Set(runLines(root, name).filter(installs))].slice(0, 3), join(WORKFLOWS, name)),
    );
}

function workflowFiles(root: string): string[] {
  const folder = join(root, WORKFLOWS);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => /\.ya?ml$/.test(name)).sort();
}

/** The lines of the `run` steps that mean the same outside of the workflow: without its expressions and folders. */
function runLines(root: string, name: string): string[] {
  const document = parsed(() => parse(readFileSync(join(root, WORKFLOWS, name), 'utf8')));
  return valuesOf(valueAt(document, 'jobs'))
    .flatMap((job) => valuesOf(valueAt(job, 'steps')))
    .filter((step) => valueAt(step, 'working-directory') === undefined && valueAt(step, 'if') === undefined)
    .flatMap((step) => textOf(valueAt(step, 'run')).replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter(
      (line) => line !== '' && !line.startsWith('#') && !line.includes('${{') && !line.includes('GITHUB_'),
    );
}

/** Fits what installs, and not what tests, publishes or needs root. */
const INSTALLS =
  /^(?:npm (?:ci|i|install)|(?:corepack )?pnpm (?:i|install)|yarn(?: install)?|bun (?:i|install|ci)|(?:python3? -m )?pip3? install|uv (?:sync|pip install)|poetry install|go mod download|cargo fetch|make (?:deps|install-deps|setup|bootstrap))(?: |$)/;
const installs = (line: string): boolean => INSTALLS.test(line) && !/ (?:-g|--global)\b/.test(line);

/** By the lock file, and what installs exactly what it locks. */
const LOCKS: readonly [file: string, command: string][] = [
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --frozen-lockfile'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun install --frozen-lockfile'],
  ['package-lock.json', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm ci'],
  // Without the project itself, whose files the preparation does not see.
  ['uv.lock', 'uv sync --frozen --no-install-project'],
  // In the tree, where the tests find it.
  ['poetry.lock', 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-root'],
  ['requirements.txt', 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'],
  ['go.sum', 'go mod download'],
];

const CARGO_LOCK = 'Cargo.lock';

/**
 * Which of these files a case sees. Many libraries let Git ignore their lock file: it lies beside the sources and is in no
 * commit. Where there is no commit yet, all that are there may be in the first one.
 */
function inTrees(root: string, files: readonly string[]): (file: string) => boolean {
  const there = files.filter((file) => existsSync(join(root, file)));
  if (there.length === 0) return () => false;
  const args = ['-C', root, 'ls-tree', '-z', '--name-only', 'HEAD', '--', ...there];
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  const names = new Set(status === 0 ? stdout.split('\0') : there);
  return (file) => names.has(file);
}

/** What the lock files at the root say. It may be run unasked: it installs what is locked, and nothing else. */
export function lockedInstall(root: string): Preparation | undefined {
  const isLocked = inTrees(root, [...LOCKS.map(([file]) => file), CARGO_LOCK]);
  const ofNode = LOCKS.slice(0, 6).find(([file]) => isLocked(file));
  const others = LOCKS.slice(6).filter(([file]) => isLocked(file));
  // A frozen install of both uv and pip would only repeat the work.
  const [python] = others.filter(([file]) => file !== 'go.sum');
  const go = others.find(([file]) => file === 'go.sum');
  const all = [ofNode, python, go].flatMap((one) => (one ? [one] : []));
  const files = all.map(([file]) => file);
  const cargo = isLocked(CARGO_LOCK) ? [CARGO_LOCK] : [];
  const commands = [
    ...all.map(([, command]) => command),
    ...(cargo.length > 0 ? ['cargo fetch --locked'] : []),
  ];
  if (commands.length === 0) return undefined;
  // Cargo refuses a package without the sources of its targets.
  const needsTree = cargo.length > 0 || (python !== undefined && locksFolders(join(root, python[0])));
  return described(commands, [...files, ...cargo].join(', '), needsTree);
}

/** Whether a lock file of Poetry or uv has a package of the tree itself, other than the project. */
const locksFolders = (file: string): boolean =>
  /^type = "(?:directory|file)"|^source = \{ (?:directory|editable|path) = "(?!\.")/m.test(
    readFileSync(file, 'utf8'),
  );

/** What a development container does before anyone opens it; what it does at each start is not for a snapshot. */
function container(root: string): Preparation[] {
  return ['.devcontainer/devcontainer.json', '.devcontainer.json'].flatMap((name) => {
    if (!existsSync(join(root, name))) return [];
    // JSON with comments; a comment behind a value is rare, and then nothing is suggested.
    const text = readFileSync(join(root, name), 'utf8').replaceAll(/^\s*\/\/.*$|\/\*[\s\S]*?\*\//gm, '');
    const document = parsed(() => parse(text));
    const commands = ['onCreateCommand', 'updateContentCommand'].flatMap((key) => {
      const command = valueAt(document, key);
      if (Array.isArray(command)) return [command.join(' ')];
      return typeof command === 'object' ? valuesOf(command).map(textOf) : [textOf(command)];
    });
    return [described(commands, name)];
  });
}

/** Commands that a package manager gives an exact answer to with lock files; any other may need the tree. */
function described(commands: string[], from: string, needsTree = false): Preparation {
  const given = commands.filter((command) => command !== '');
  const isPlain = given.every((command) => installs(command) || LOCKS.some(([, known]) => known === command));
  return { commands: given, from, ...((needsTree || !isPlain) && { inputs: 'all' }) };
}

function parsed(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;

const valuesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
