import { existsSync, statSync } from 'node:fs';
import { constants, devNull } from 'node:os';
import { delimiter, parse, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import {
  BoundedOutput,
  drainOutput,
  type StartedProgram,
  signalProcess,
  startProgram,
} from '@whetstone/sandbox/process';

/**
 * Every git process that the harness starts. It reads only the configuration of its git directory, runs no hook,
 * filter, fsmonitor, pager or transport, takes no optional lock, and never asks for input.
 */
export type GitCall = {
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  /** Default: the work tree, else the git directory, else the root. The current folder never matters. */
  cwd?: string;
  input?: string | Uint8Array | Readable;
  /** Exit codes beside 0 that are an answer and not a failure. */
  accepts?: readonly number[];
};

const NEUTRAL_CONFIG = [
  `core.hooksPath=${devNull}`,
  `core.attributesFile=${devNull}`,
  `core.excludesFile=${devNull}`,
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.autocrlf=false',
  'core.quotePath=true',
  'core.logAllRefUpdates=false',
  'protocol.allow=never',
  'protocol.file.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** Runs git to its end and resolves with its output. Rejects with a `GitError` when it fails. */
export function git(args: string[], call: GitCall): Promise<Buffer> {
  return streamGit(args, call, bytesOf);
}

/** As `buffer` of `node:stream/consumers`, without a `Blob`. */
async function bytesOf(output: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of output) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What the program at a path, with these times, has said. */
let known: { program: string; version: string } | undefined;

/** The version of git in use, e.g. `2.39.5`. Asked once per process and program. */
export async function gitVersion(): Promise<string> {
  const program = gitProgram();
  if (known && known.program === program) return known.version;
  const output = (await git(['--version'], {})).toString().trim();
  const version = output.replace(/^git version /, '');
  if (program !== undefined) known = { program, version };
  return version;
}

/** Which file the PATH names as git; another one after an update. */
function gitProgram(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = resolve(folder, 'git');
    const found = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (found?.isFile()) return [path, found.ino, found.mtimeMs, found.ctimeMs, found.size].join(' ');
  }
  return undefined;
}

/** Runs git and passes its output to `read` as it comes, without buffering it. */
export async function streamGit<T>(
  args: string[],
  call: GitCall,
  read: (output: Readable) => Promise<T>,
): Promise<T> {
  const started = await startGit(args, call);
  const stderr = new BoundedOutput();
  started.stderr.on('data', (chunk: Buffer) => stderr.append(chunk));
  const reading = read(started.stdout);
  let isUnread = false;
  await reading.catch(() => {
    isUnread = true;
    // It would wait forever.
    started.stdout.destroy();
    signalProcess(started.pid, 'SIGKILL');
  });
  const exitCode = await started.exited;
  await drainOutput(started.stderr);
  // When git fails, the reader may fail too, on the truncated output. The error of git is the cause.
  const isAnswer = exitCode === 0 || call.accepts?.includes(exitCode);
  if (!isAnswer && !(isUnread && exitCode === KILLED))
    throw new GitError(commandOf(args), stderr.text(), exitCode);
  return await reading;
}

export class GitError extends WhetstoneError {
  readonly stderr: string;

  constructor(command: string, stderr: string, exitCode: number) {
    const reason = stderr.trim().split('\n').slice(-3).join('; ');
    super('git-failed', `git ${command} failed: ${reason || `exit code ${exitCode}`}`);
    this.stderr = stderr;
  }
}

/** The command of git, without the settings before it. */
const commandOf = (args: readonly string[]): string =>
  args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c') ?? '';

const KILLED = 128 + constants.signals.SIGKILL;

function startGit(args: string[], call: GitCall): Promise<StartedProgram> {
  const { input } = call;
  const cwd = call.cwd ?? call.workTree ?? call.gitDir ?? parse(process.cwd()).root;
  return startProgram({
    file: 'git',
    args: [...NEUTRAL_CONFIG, ...args],
    cwd,
    env: environment(call),
    stdin: input === undefined || input instanceof Readable ? input : Readable.from([input]),
  }).catch((cause: unknown) => {
    // The folder that it works in can be what is missing.
    if (codeOf(cause) !== 'ENOENT' || !existsSync(cwd)) throw cause;
    throw new WhetstoneError('git-missing', 'The program git was not found.', { cause });
  });
}

function environment(call: GitCall): Record<string, string> {
  const { PATH, TMPDIR, SystemRoot } = process.env;
  return {
    ...present({ PATH, TMPDIR, SystemRoot }),
    HOME: devNull,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'none',
    // Of glibc: else git gives the memory for compressing back after each small object, eight times the work of compressing.
    MALLOC_TRIM_THRESHOLD_: String(2 ** 26),
    ...present({ GIT_DIR: call.gitDir, GIT_WORK_TREE: call.workTree, GIT_INDEX_FILE: call.indexFile }),
  };
}
