import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Manifest } from '../../record/manifest.ts';
import type { CaseRow } from '../../record/row.ts';
import { type Finished, runCommandLine } from './command-line.ts';
import { makeRepo, makeTempDir, type TreeSpec, writeTree } from '../../workspace/__fixtures__/test-repo.ts';

/** The command line as a user starts it. */
export const BIN = join(import.meta.dirname, '../../../bin/whetstone.js');

/** How long a test waits for something before it says that it never came. */
const DEADLINE_MS = 30_000;

export type ProjectOptions = {
  /** The repository's only commit. */
  files?: TreeSpec;
  /** Keys of `whetstone.yaml` in place of the fixture's own, whose sandbox is `process`; `undefined` leaves one out. */
  config?: Record<string, unknown>;
  /** Default: two tasks, `one` and `two`. */
  tasks?: readonly Record<string, unknown>[];
  /** Shell scripts by agent name: each becomes an agent that runs it in the workspace; `$1` is the prompt, `$2` the output directory. Default: `writer`. */
  agents?: Record<string, string | ScriptedAgent>;
};

/** An agent that needs more keys of the configuration than a command. */
export type ScriptedAgent = { script: string; keys: Record<string, unknown> };

export type Started = {
  child: ChildProcess;
  pid: number;
  finished: Promise<Finished>;
  /** Resolves when stderr holds the text. */
  said(text: string | RegExp): Promise<void>;
};

/** A repository, a configuration beside it and a temporary folder of their own; all removed in the end. */
export type Project = Disposable & {
  root: string;
  repo: string;
  /** The command line's TMPDIR. */
  temporary: string;
  /** What the agents leave here outlives their workspace: `$NOTES` in their scripts. */
  notes: string;
  runs: string;
  /** Of the command line. */
  environment: NodeJS.ProcessEnv;
  /** Writes files below the project's root. */
  write(files: TreeSpec): void;
  writeConfig(config: Record<string, unknown>): void;
  writeTasks(tasks: readonly Record<string, unknown>[]): void;
  /** Starts the command line in a process of its own. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): Started;
  whetstone(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished>;
  /** Directories of the runs so far, the oldest first. */
  runDirectories(): string[];
  /** The latest run, as its files say. */
  latest(): StoredFiles;
};

export type StoredFiles = { directory: string; manifest: Manifest; rows: CaseRow[] };

const TASKS = [
  { id: 'one', prompt: 'Do the first thing.' },
  { id: 'two', prompt: 'Do the second thing.' },
];

export function makeProject(options: ProjectOptions = {}): Project {
  const root = makeTempDir();
  const repo = makeRepo(options.files ?? { 'README.md': 'A project.\n', 'test/check.txt': 'original\n' });
  const temporary = join(root, 'tmp');
  const notes = join(root, 'notes');
  const runs = join(root, 'runs');
  for (const folder of [temporary, notes]) mkdirSync(folder);
  const agents = Object.entries(options.agents ?? { writer: 'echo done >> README.md' }).map(([name, agent]) =>
    typeof agent === 'string' ? { name, script: agent, keys: {} } : { name, ...agent },
  );
  const base = {
    repo: { path: repo },
    agents: Object.fromEntries(
      agents.map(({ name, keys }) => {
        const command = ['sh', join(root, 'agents', `${name}.sh`), '{prompt}', '{output_dir}'];
        return [name, { kind: 'custom', command, ...keys }];
      }),
    ),
    tasks: 'tasks.yaml',
    variants: { baseline: {} },
    evaluation: { commands: ['true'] },
    // Most tests are about something else, and to prove a stronger one takes a third of a second in each run.
    sandbox: 'process',
    output_dir: 'runs',
  };
  const children: ChildProcess[] = [];
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const started = startCommand([BIN, ...args], root, { ...environment(temporary), ...env });
    children.push(started.child);
    return started;
  };
  const project: Project = {
    root,
    repo,
    temporary,
    notes,
    runs,
    environment: environment(temporary),
    write: (files) => writeTree(root, files),
    writeConfig: (config) => writeFileSync(join(root, 'whetstone.yaml'), stringify({ ...base, ...config })),
    writeTasks: (tasks) => writeFileSync(join(root, 'tasks.yaml'), stringify({ tasks })),
    start,
    whetstone: (args, env = {}) =>
      runCommandLine({ args, cwd: root, env: { ...environment(temporary), ...env } }),
    runDirectories: () => runDirectories(runs),
    latest: () => readRunFiles(project.runDirectories().at(-1) ?? 'no run'),
    [Symbol.dispose]() {
      for (const child of children) child.kill('SIGKILL');
      for (const folder of [root, repo]) rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const { name, script } of agents) {
    project.write({ [`agents/${name}.sh`]: `NOTES=${notes}\n${script}\n` });
  }
  project.writeConfig(options.config ?? {});
  project.writeTasks(options.tasks ?? TASKS);
  return project;
}

/** The oldest first. Two runs of one second differ only in when their directories were made. */
export const runDirectories = (runs: string): string[] =>
  (existsSync(runs) ? readdirSync(runs) : [])
    .filter((name) => /^\d/.test(name))
    .map((name) => join(runs, name))
    .sort((a, b) => statSync(a).birthtimeMs - statSync(b).birthtimeMs);

/** What a shell of a user holds, and nothing of the test runner's. */
function environment(temporary: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    USER: process.env.USER,
    LANG: 'C.UTF-8',
    TMPDIR: temporary,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  };
}

/** Starts Node on a script, without a terminal and without input. */
function startCommand(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, ...output }));
  });
  return {
    child,
    pid: child.pid ?? 0,
    finished,
    said: (text) =>
      eventually(`"${text}" on stderr`, () =>
        typeof text === 'string' ? output.stderr.includes(text) : text.test(output.stderr),
      ),
  };
}

function readRunFiles(directory: string): StoredFiles {
  const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  return { directory, manifest, rows: readLines(join(directory, 'results.jsonl')) };
}

export function readLines<Line>(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Polls until the condition holds; an error names what never came. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, limitMs = DEADLINE_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not after ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Processes of this machine whose command line holds the text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return ''; // it has ended meanwhile
  }
}

/** A program of the machine, made in a folder that can stand in a PATH. */
export function makeProgram(file: string, script: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** Every byte of every file below a folder, names included. */
export function everything(folder: string): Buffer {
  const parts = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [Buffer.from(`${path}\n`), ...(entry.isFile() ? [readFileSync(path)] : [])];
  });
  return Buffer.concat(parts);
}

