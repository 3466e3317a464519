import {
  constants,
  type Dirent,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, rmdir, unlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { copyAttributes, readRange } from '@whetstone/sandbox/files';
import { cgroupFolder, endTree, newMark, unwatch, watch } from '@whetstone/sandbox/process';
import { type Kind, listOfTexts, object, oneOf, refuseUnknown, text } from '../control/check-options.ts';
import { type EnvPolicy, filterVariables } from './command-variables.ts';
import type {
  BackgroundProcess,
  ConnectedProcess,
  ConnectOptions,
  DirectoryEntry,
  ExecOptions,
  ExecResult,
  ExecutionEnvironment,
  FileStat,
  StartOptions,
} from './execution-environment.ts';
import { type LocalCommand, runLocalCommand } from './local-command.ts';
import { connectLocalProcess, startLocalProcess } from './local-process.ts';

export type LocalEnvironmentOptions = {
  /** Relative paths count from the working folder of this process. Default: that folder. */
  workingDirectory?: string;
  /** Which variables of this process commands inherit. Default `all`, which leaves out what looks like a secret. */
  envPolicy?: EnvPolicy;
  /** Variables that every command gets, whatever the policy. */
  env?: Readonly<Record<string, string>>;
  /** The argv in front of a command string. Default `/bin/bash -c`, else `/bin/sh -c`; on Windows `cmd.exe /d /s /c`. */
  shell?: readonly [string, ...string[]];
};

const OPTIONS: Readonly<Record<keyof LocalEnvironmentOptions, Kind>> = {
  workingDirectory: text,
  envPolicy: oneOf('all', 'core', 'none'),
  env: object,
  shell: listOfTexts,
};

/**
 * Runs tools on this machine, as this user (loop spec 4.2). It is not a sandbox: a command can reach whatever this user
 * can. Background commands outlive their shell, until `cleanup()` or until this process ends.
 */
export class LocalExecutionEnvironment implements ExecutionEnvironment, AsyncDisposable {
  readonly #workingDirectory: string;
  readonly #options: LocalEnvironmentOptions;
  readonly #host: NodeJS.ProcessEnv;
  #env: Promise<Record<string, string>> | undefined;
  readonly #shell: readonly [string, ...string[]];
  readonly #id = newMark();
  #hasStarted = false;
  /** For whom commands were started. */
  readonly #owners = new Set<string>();
  #outputDirectory: string | undefined;

  /** Throws a `WhetstoneError` that names the field where an option does not exist or fit. */
  constructor(options: LocalEnvironmentOptions = {}) {
    refuseUnknown('LocalEnvironmentOptions', options, OPTIONS);
    this.#workingDirectory = path.resolve(options.workingDirectory ?? '.');
    this.#options = options;
    this.#host = { ...process.env };
    this.#shell = options.shell ?? defaultShell();
  }

  workingDirectory(): string {
    return this.#workingDirectory;
  }

  platform(): string {
    return process.platform;
  }

  osVersion(): string {
    return `${os.type()} ${os.release()}`;
  }

  async cleanup(): Promise<void> {
    const mark = `${ENVIRONMENT_VARIABLE}=${this.#id}`;
    if (this.#hasStarted) await endTree({ mark, cgroup: this.#cgroup() });
    unwatch(this.#id);
    const outputs = this.#outputDirectory;
    this.#outputDirectory = undefined;
    if (outputs !== undefined) await removeOutputDirectory(outputs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }

  async readBytes(target: string): Promise<Uint8Array> {
    return await readWhole(this.#resolve(target));
  }

  async readRange(target: string, offset: number, length: number): Promise<Uint8Array> {
    return await readRange(this.#resolve(target), offset, length);
  }

  async writeBytes(target: string, content: Uint8Array, options: { mode?: number } = {}): Promise<void> {
    const file = this.#resolve(target);
    await mkdir(path.dirname(file), { recursive: true });
    await writeInPlace(file, content, options.mode);
  }

  async remove(target: string): Promise<void> {
    await unlink(this.#resolve(target));
  }

  async removeDirectory(target: string): Promise<void> {
    await rmdir(this.#resolve(target));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.#resolve(from), this.#resolve(to));
  }

  async copyAttributes(from: string, to: string): Promise<boolean> {
    return await copyAttributes(this.#resolve(from), this.#resolve(to));
  }

  async stat(target: string): Promise<FileStat | undefined> {
    try {
      // Synchronous: a trip to another thread, and its error for what is missing, cost twenty times as much, and a
      // session looks for a dozen files before its first request.
      const found = statSync(this.#resolve(target), { throwIfNoEntry: false });
      if (found === undefined) return undefined;
      return {
        kind: kindOf(found) ?? 'other',
        size: found.size,
        modifiedMs: found.mtimeMs,
        mode: found.mode & 0o7777,
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  async mkdirp(target: string): Promise<void> {
    await mkdir(this.#resolve(target), { recursive: true });
  }

  async realpath(target: string): Promise<string> {
    return await realpath(this.#resolve(target));
  }

  async listDirectory(target: string): Promise<DirectoryEntry[]> {
    const entries = await readdir(this.#resolve(target), { withFileTypes: true });
    return entries.map((entry) => {
      const kind = kindOf(entry) ?? (entry.isSymbolicLink() ? 'symlink' : 'other');
      return { name: entry.name, kind };
    });
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const local = await this.#command('exec', this.#argv(command), options);
    const outputFile = () => path.join(this.#outputs(), `${crypto.randomUUID()}.log`);
    return await runLocalCommand(local, options, outputFile);
  }

  async endCommandsOf(owner: string): Promise<void> {
    if (!this.#owners.delete(owner)) return;
    const mark = `${OWNER_VARIABLE}=${this.#ownerMark(owner)}`;
    await endTree({ mark, cgroup: this.#cgroup(owner) });
  }

  async start(command: string | readonly string[], options: StartOptions = {}): Promise<BackgroundProcess> {
    const argv = this.#argv(command);
    const local = await this.#command('start', options.terminal ? inTerminal(argv) : argv, options);
    const { outputFile } = options;
    return await startLocalProcess(local, outputFile === undefined ? undefined : this.#resolve(outputFile));
  }

  async connect(command: readonly string[], options: ConnectOptions): Promise<ConnectedProcess> {
    return await connectLocalProcess(await this.#command('connect', command, options), options);
  }

  async outputDirectory(): Promise<string> {
    return this.#outputs();
  }

  #outputs(): string {
    this.#outputDirectory ??= makeOutputDirectory();
    return this.#outputDirectory;
  }

  /** What every command gets. Filtered when the first one starts, because that loads the rules. */
  async #variables(): Promise<Record<string, string>> {
    const { envPolicy = 'all', env } = this.#options;
    const variables = { ...(await filterVariables(this.#host, envPolicy)), ...env };
    // Bash below no other shell, with a socket for its input as Node's pipes are, takes itself for a remote login and
    // reads the user's ~/.bashrc: a command in the background would see another environment than one in the foreground.
    if (!(Number(variables.SHLVL) >= 1)) variables.SHLVL = '1';
    return variables;
  }

  #argv(command: string | readonly string[]): readonly string[] {
    return typeof command === 'string' ? [...this.#shell, command] : command;
  }

  async #command(method: string, argv: readonly string[], options: CommandOptions): Promise<LocalCommand> {
    const [file, ...args] = argv;
    if (file === undefined)
      throw new TypeError(`${method}: the command is an empty list. Give at least a program.`);
    const workingDirectory = this.#resolve(options.workingDirectory ?? '.');
    // Otherwise the missing folder would be reported as a missing program.
    if (!statSync(workingDirectory, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${method}: ${workingDirectory} is not a directory`);
    this.#env ??= this.#variables();
    watch(this.#id);
    this.#hasStarted = true;
    const mark = newMark();
    const { owner } = options;
    if (owner !== undefined) this.#owners.add(owner);
    const cgroup = this.#cgroup(owner ?? 'host');
    return {
      argv: [file, ...args],
      workingDirectory,
      env: {
        ...(await this.#env),
        ...options.env,
        [ENVIRONMENT_VARIABLE]: this.#id,
        ...(owner !== undefined && { [OWNER_VARIABLE]: this.#ownerMark(owner) }),
        [COMMAND_VARIABLE]: mark,
      },
      mark: `${COMMAND_VARIABLE}=${mark}`,
      ...(cgroup !== undefined && { cgroup: path.join(cgroup, mark) }),
    };
  }

  /** Two environments may have the same owner: each ends its own commands only. */
  #ownerMark(owner: string): string {
    return `${this.#id}.${owner}`;
  }

  /** The cgroup of this environment, or of an owner in it. Each command has its own below. `undefined` without cgroups. */
  #cgroup(owner = ''): string | undefined {
    const folder = cgroupFolder();
    return folder && path.join(folder, this.#id, owner);
  }

  #resolve(target: string): string {
    return path.resolve(this.#workingDirectory, target);
  }
}

/** What a file without a size may give, in bytes and in milliseconds. */
const MOST_UNSIZED_BYTES = 64 * 1024 * 1024;
const UNSIZED_DEADLINE_MS = 5_000;

/** A file of `/proc` has no size. Some wait for what may never come, and some never end. */
async function readWhole(file: string): Promise<Uint8Array> {
  await using handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if ((await handle.stat()).size > 0) return await handle.readFile();
  const chunks: Buffer[] = [];
  const deadline = performance.now() + UNSIZED_DEADLINE_MS;
  for (let total = 0; ; ) {
    const { buffer, bytesRead } = await handle
      .read(Buffer.alloc(64 * 1024))
      .catch((error: NodeJS.ErrnoException) => {
        // It would wait for more.
        if (error.code === 'EAGAIN' && total > 0) return { buffer: Buffer.alloc(0), bytesRead: 0 };
        throw error;
      });
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    if (total > MOST_UNSIZED_BYTES || performance.now() > deadline)
      throw Object.assign(new Error(`the file has not ended after ${total} bytes`), { code: 'EFBIG' });
  }
}

/**
 * Writes over the old content and cuts off what is left of it. Emptying the file first would lose both contents where
 * the disk is full, and show others an empty file in between.
 */
async function writeInPlace(file: string, content: Uint8Array, mode: number | undefined): Promise<void> {
  const { O_WRONLY, O_CREAT } = constants;
  await using handle = await open(file, O_WRONLY | O_CREAT, mode);
  for (let written = 0; written < content.length; )
    written += (await handle.write(content, written, content.length - written, written)).bytesWritten;
  if ((await handle.stat()).size > content.length) await handle.truncate(content.length);
}

function kindOf(entry: Dirent | Stats): 'file' | 'directory' | undefined {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : undefined;
}

type CommandOptions = Pick<ExecOptions, 'workingDirectory' | 'env' | 'owner'>;

/** Every process that an environment starts has its mark, that of whoever asked for it, and that of its command. */
const ENVIRONMENT_VARIABLE = 'WHETSTONE_ENVIRONMENT_ID';
const OWNER_VARIABLE = 'WHETSTONE_OWNER_ID';
const COMMAND_VARIABLE = 'WHETSTONE_COMMAND_ID';

function defaultShell(): readonly [string, ...string[]] {
  if (process.platform === 'win32') return ['cmd.exe', '/d', '/s', '/c'];
  return [existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh', '-c'];
}

/** `script` of util-linux lends a terminal, which Node has no means to make. */
function inTerminal(argv: readonly string[]): string[] {
  if (process.platform !== 'linux') throw new Error('start: a terminal is available on Linux only');
  const quoted = argv.map((argument) => `'${argument.replaceAll("'", `'\\''`)}'`);
  return ['script', '--quiet', '--flush', '--return', '--command', quoted.join(' '), '/dev/null'];
}

/** The folders that exist now; one exit handler removes what nobody cleaned up. */
const folders = new Set<string>();
const removeAll = () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};

/** A folder for long outputs that only this user can read. Synchronous, because streams need it while they run. */
function makeOutputDirectory(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'whetstone-output-')));
  if (folders.size === 0) process.on('exit', removeAll);
  folders.add(folder);
  return folder;
}

async function removeOutputDirectory(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off('exit', removeAll);
}
