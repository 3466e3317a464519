import { devNull } from 'node:os';
import { parse } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { execa } from 'execa';

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
export async function git(args: string[], call: GitCall): Promise<Buffer> {
  const result = await startGit(args, call, { maxBuffer: 2 ** 30 });
  if (result.failed) throw gitError(args, result);
  return Buffer.from(result.stdout.buffer, result.stdout.byteOffset, result.stdout.byteLength);
}

/** The version of git in use, e.g. `2.39.5`. */
export async function gitVersion(): Promise<string> {
  const output = (await git(['--version'], {})).toString().trim();
  return output.replace(/^git version /, '');
}

/** Runs git and passes its output to `read` as it comes, without buffering it. */
export async function streamGit<T>(
  args: string[],
  call: GitCall,
  read: (output: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const subprocess = startGit(args, call, { buffer: { stdout: false } });
  let value: T;
  try {
    // Piped at once, because execa drains a stream that has no reader by the next turn of the event loop.
    value = await read(subprocess.stdout.pipe(new PassThrough()));
  } catch (error) {
    subprocess.kill('SIGKILL');
    const result = await subprocess;
    // When git fails, the reader may fail too, on the truncated output. The error of git is the cause.
    if (result.exitCode !== undefined && result.exitCode !== 0) throw gitError(args, result);
    throw error;
  }
  const result = await subprocess;
  if (result.failed) throw gitError(args, result);
  return value;
}

export class GitError extends WhetstoneError {
  readonly stderr: string;

  constructor(command: string, stderr: string, cause: unknown) {
    const reason = stderr.trim().split('\n').slice(-3).join('; ');
    super('git-failed', `git ${command} failed: ${reason || messageOf(cause)}`, { cause });
    this.stderr = stderr;
  }
}

function startGit<O extends { maxBuffer: number } | { buffer: { stdout: false } }>(
  args: string[],
  call: GitCall,
  output: O,
) {
  return execa('git', [...NEUTRAL_CONFIG, ...args], {
    cwd: call.cwd ?? call.workTree ?? call.gitDir ?? parse(process.cwd()).root,
    env: environment(call),
    extendEnv: false,
    encoding: 'buffer' as const,
    stripFinalNewline: false,
    reject: false as const,
    ...(call.input === undefined ? { stdin: 'ignore' as const } : { input: call.input }),
    ...output,
  });
}

function environment(call: GitCall): Record<string, string> {
  const kept = ['PATH', 'TMPDIR', 'SystemRoot'].flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(kept),
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
    ...present({ GIT_DIR: call.gitDir, GIT_WORK_TREE: call.workTree, GIT_INDEX_FILE: call.indexFile }),
  };
}

function gitError(
  args: string[],
  result: { stderr: unknown; code?: string | undefined; cause?: unknown },
): WhetstoneError {
  if (result.code === 'ENOENT') {
    return new WhetstoneError('git-missing', 'The program git was not found.', { cause: result.cause });
  }
  const stderr = result.stderr instanceof Uint8Array ? Buffer.from(result.stderr).toString('utf8') : '';
  return new GitError(args[0] ?? '', stderr, result.cause);
}
