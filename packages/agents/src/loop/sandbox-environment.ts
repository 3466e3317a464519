import { type Dirent, existsSync } from 'node:fs';
import { readdir, realpath, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { release, type } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import type {
  BackgroundProcess,
  DirectoryEntry,
  ExecOptions,
  ExecResult,
  ExecutionEnvironment,
  FileStat,
  StartOptions,
} from '@whetstone/loop';
import {
  absoluteFiles,
  type CommandResult,
  createConfinedFiles,
  entryUnder,
  isUnder,
  type Mask,
  makeFolders,
  type RunOptions,
  resolveUnder,
  type Sandbox,
} from '@whetstone/sandbox';
import { copyAttributes, readRange } from '@whetstone/sandbox/files';
import { KEPT_BYTES, OutputFile, PolledProcess, UnreadOutput } from '@whetstone/sandbox/process';
import { connectSandboxProcess } from './sandbox-connection.ts';

/** Commands that models write are meant for bash. */
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

export type SandboxEnvironmentOptions = {
  /** For every command, merged over the sandbox's own environment. */
  env: Readonly<Record<string, string>>;
  /** Applied to the output of commands. */
  mask: Mask;
};

/**
 * Runs the loop's tools in a sandbox of this machine. Everything that a command starts ends with it,
 * so that a session that closes has nothing left to end (`endCommandsOf`);
 * background commands end with the sandbox. Files can be read wherever the commands may read, but not those of the system
 * in a sealed sandbox. They can be written, removed and
 * renamed only in the workspace and in the sandbox's home, even through symbolic links.
 */
export function createSandboxEnvironment(
  sandbox: Sandbox,
  options: SandboxEnvironmentOptions,
): ExecutionEnvironment {
  const absolute = (path: string): string => sandbox.hostPath(resolve(sandbox.workdir, path));
  const writable = (path: string) => writablePlace(sandbox, absolute(path));
  /** Where commands do not see all files of this machine, neither does this. */
  function rootOf(path: string): string | undefined {
    const { folders } = sandbox;
    return folders && (folders.find((folder) => isUnder(folder, path)) ?? sandbox.hostPath(sandbox.workdir));
  }
  async function readable(path: string): Promise<string> {
    const at = absolute(path);
    const root = rootOf(at);
    return root === undefined ? at : resolveUnder(root, relative(root, at));
  }
  const entryOf = (path: string) => entryUnder(...writable(path));
  const started = new Set<{ kill(): Promise<void> }>();
  return {
    workingDirectory: () => sandbox.workdir,
    platform: () => process.platform,
    osVersion: () => `${type()} ${release()}`,
    async readBytes(path) {
      const at = absolute(path);
      const root = rootOf(at);
      return root === undefined ? absoluteFiles.read(at) : createConfinedFiles(root).read(relative(root, at));
    },
    readRange: async (path, offset, length) =>
      readRange(await readable(path), offset, length, rootOf(absolute(path))),
    async writeBytes(path, content, { mode } = {}) {
      const [root, rest] = writable(path);
      await createConfinedFiles(root).write(rest, content, mode);
    },
    remove: async (path) => unlink(await entryOf(path)),
    removeDirectory: async (path) => rmdir(await entryOf(path)),
    copyAttributes: async (from, to) =>
      copyAttributes(await resolveUnder(...writable(from)), await entryOf(to)),
    rename: async (from, to) => rename(await entryOf(from), await entryOf(to)),
    stat: async (path) => statOf(await readable(path)),
    async mkdirp(path) {
      makeFolders(await resolveUnder(...writable(path)));
    },
    realpath: async (path) => sandbox.seenPath(await realpath(await readable(path))),
    listDirectory: async (path) => entriesOf(await readable(path)),
    exec: (command, execOptions = {}) => exec(sandbox, command, execOptions, options),
    async start(command, { terminal, env, outputFile, workingDirectory } = {}) {
      if (terminal) throw new Error('This environment has no terminal. Start the command without one.');
      const process = await startSandboxProcess(sandbox, argvOf(command), {
        env: { ...options.env, ...env },
        mask: options.mask,
        ...present({ workingDirectory }),
        ...(outputFile !== undefined && { outputFile: await resolveUnder(...writable(outputFile)) }),
      });
      started.add(process);
      return process;
    },
    async connect(command, { workingDirectory, env, ...listeners }) {
      const process = await connectSandboxProcess(sandbox, argvOf(command), {
        env: { ...options.env, ...env },
        ...present({ cwd: workingDirectory }),
        ...listeners,
      });
      started.add(process);
      return process;
    },
    async cleanup() {
      await Promise.all([...started].map((process) => process.kill()));
    },
    outputDirectory: () => outputDirectory(sandbox),
  };
}

/** The root above a path, and the path within it. For any other path the root is the workspace, which refuses the path. */
function writablePlace(sandbox: Sandbox, path: string): [root: string, rest: string] {
  const home = sandbox.hostPath(sandbox.home);
  const root = isUnder(home, path) ? home : sandbox.hostPath(sandbox.workdir);
  return [root, relative(root, path)];
}

async function statOf(path: string): Promise<FileStat | undefined> {
  try {
    const found = await stat(path);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
    return { kind, size: found.size, modifiedMs: found.mtimeMs, mode: found.mode & 0o7777 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function entriesOf(path: string): Promise<DirectoryEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
}

function kindOf(entry: Dirent): DirectoryEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

async function exec(
  sandbox: Sandbox,
  command: string | readonly string[],
  options: ExecOptions,
  { env, mask }: SandboxEnvironmentOptions,
): Promise<ExecResult> {
  const [program, ...args] = argvOf(command);
  const { timeoutMs, workingDirectory } = options;
  using silence = watchSilence(options);
  const result = await sandbox.runCommand(program, args, {
    env: { ...env, ...options.env },
    mask,
    ...present({ cwd: workingDirectory, timeoutMs: timeoutMs || undefined }),
    ...present({ signal: silence.signal }),
    ...textListeners(silence.onOutput),
  });
  const inactive = result.ended === 'abort' && silence.reached();
  return { ...toExecResult(result), ...(inactive && { aborted: false, timedOut: true, inactive }) };
}

function argvOf(command: string | readonly string[]): [string, ...string[]] {
  const [program, ...args] = typeof command === 'string' ? [SHELL, '-c', command] : command;
  if (program === undefined) throw new TypeError('The command is an empty list. Give at least a program.');
  return [program, ...args];
}

async function outputDirectory(sandbox: Sandbox): Promise<string> {
  const directory = join(sandbox.home, '.tool-output');
  makeFolders(sandbox.hostPath(directory));
  return directory;
}

/** Aborts a command that prints nothing for too long, because a sandbox has no such limit. */
function watchSilence({ inactivityTimeoutMs, signal, onOutput }: ExecOptions) {
  if (!inactivityTimeoutMs) return { signal, onOutput, reached: () => false, [Symbol.dispose]: () => {} };
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), inactivityTimeoutMs);
  const heard: ExecOptions['onOutput'] = (chunk) => {
    timer.refresh();
    onOutput?.(chunk);
  };
  return {
    signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    onOutput: heard,
    reached: () => silent.signal.aborted && !signal?.aborted,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Listeners that decode bytes to text and keep code points whole that are split between two chunks. */
function textListeners(onOutput: ExecOptions['onOutput']): Pick<RunOptions, 'onStdout' | 'onStderr'> {
  if (!onOutput) return {};
  const listener = (stream: 'stdout' | 'stderr') => {
    const decoder = new TextDecoder();
    return (chunk: Buffer) => {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') onOutput({ stream, text });
    };
  };
  return { onStdout: listener('stdout'), onStderr: listener('stderr') };
}

function toExecResult(result: CommandResult): ExecResult {
  const { stdout, stderr, exitCode, ended, durationMs, stdoutBytes, stderrBytes } = result;
  return {
    stdout,
    stderr,
    droppedBytes: Math.max(0, stdoutBytes - KEPT_BYTES) + Math.max(0, stderrBytes - KEPT_BYTES),
    exitCode: ended === 'exit' ? exitCode : undefined,
    timedOut: ended === 'timeout',
    aborted: ended === 'abort',
    durationMs,
  };
}

/** Starts a command in a sandbox that runs beside the calls of the loop. Its output is kept until it is asked for. */
async function startSandboxProcess(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  { workingDirectory, outputFile, env, mask }: StartOptions & Pick<RunOptions, 'mask'>,
): Promise<BackgroundProcess> {
  const output = new UnreadOutput({
    file: outputFile === undefined ? undefined : new OutputFile(outputFile),
  });
  try {
    const process = await connectSandboxProcess(sandbox, argv, {
      onStdout: output.listener(),
      onStderr: output.listener(),
      ...present({ env, mask, cwd: workingDirectory }),
    });
    return new PolledProcess(process, output);
  } catch (error) {
    // A process that never started has only its file to close.
    output.close();
    throw error;
  }
}
