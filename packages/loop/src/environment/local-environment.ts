import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type EnvPolicy, filterVariables } from './command-variables.ts';
import type {
  DirectoryEntry,
  ExecOptions,
  ExecResult,
  ExecutionEnvironment,
  FileStat,
} from './execution-environment.ts';
import { runLocalCommand } from './local-command.ts';
import { endProcessTree } from './process-tree.ts';

export type LocalEnvironmentOptions = {
  /** Resolved against the process's own; default: the process's own. */
  workingDirectory?: string;
  /** Which variables of this process commands inherit. Default `all`, which leaves out what looks like a secret. */
  envPolicy?: EnvPolicy;
  /** Set for every command, past the policy: what the host names here it wants there. */
  env?: Readonly<Record<string, string>>;
  /** The argv in front of a command string. Default `/bin/bash -c`, `/bin/sh -c` where there is no bash, `cmd.exe /d /s /c` on Windows. */
  shell?: readonly [string, ...string[]];
};

/**
 * Runs tools on this machine, as this user (loop spec 4.2). No security boundary: a command may reach whatever the
 * user can. Commands that went to the background live on after their shell has exited; `cleanup()` ends them.
 */
export class LocalExecutionEnvironment implements ExecutionEnvironment, AsyncDisposable {
  readonly #workingDirectory: string;
  readonly #env: Record<string, string>;
  readonly #shell: readonly [string, ...string[]];
  readonly #id = crypto.randomUUID();
  #commands = 0;

  constructor(options: LocalEnvironmentOptions = {}) {
    this.#workingDirectory = path.resolve(options.workingDirectory ?? '.');
    this.#env = { ...filterVariables(process.env, options.envPolicy ?? 'all'), ...options.env };
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
    if (this.#commands > 0) await endProcessTree({ mark: `${ENVIRONMENT_VARIABLE}=${this.#id}` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }

  async readBytes(target: string): Promise<Uint8Array> {
    return await readFile(this.#resolve(target));
  }

  async writeBytes(target: string, content: Uint8Array, options: { mode?: number } = {}): Promise<void> {
    const file = this.#resolve(target);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content, options);
  }

  async remove(target: string): Promise<void> {
    await unlink(this.#resolve(target));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.#resolve(from), this.#resolve(to));
  }

  async stat(target: string): Promise<FileStat | undefined> {
    try {
      const found = await stat(this.#resolve(target));
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
      return { kind, size: found.size, modifiedMs: found.mtimeMs, mode: found.mode & 0o7777 };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
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
    return entries.map((entry) => ({
      name: entry.name,
      kind: entry.isFile()
        ? 'file'
        : entry.isDirectory()
          ? 'directory'
          : entry.isSymbolicLink()
            ? 'symlink'
            : 'other',
    }));
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    this.#commands += 1;
    const mark = `${this.#id}.${this.#commands}`;
    const [file, ...args] = typeof command === 'string' ? [...this.#shell, command] : command;
    if (file === undefined)
      throw new TypeError('exec: the command is an empty list; give at least a program name');
    const workingDirectory = this.#resolve(options.workingDirectory ?? '.');
    // Otherwise the missing folder would be reported as a missing program.
    if (!existsSync(workingDirectory)) throw new Error(`exec: there is no directory ${workingDirectory}`);
    return await runLocalCommand(
      {
        argv: [file, ...args],
        workingDirectory,
        env: { ...this.#env, ...options.env, [ENVIRONMENT_VARIABLE]: this.#id, [COMMAND_VARIABLE]: mark },
        mark: `${COMMAND_VARIABLE}=${mark}`,
      },
      options,
    );
  }

  #resolve(target: string): string {
    return path.resolve(this.#workingDirectory, target);
  }
}

const ENVIRONMENT_VARIABLE = 'WHETSTONE_ENVIRONMENT_ID';
const COMMAND_VARIABLE = 'WHETSTONE_COMMAND_ID';

function defaultShell(): readonly [string, ...string[]] {
  if (process.platform === 'win32') return ['cmd.exe', '/d', '/s', '/c'];
  return [existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh', '-c'];
}
