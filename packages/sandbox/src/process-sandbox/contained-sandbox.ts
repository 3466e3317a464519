import { isAbsolute, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { NameRequests } from '../bubblewrap/name-requests.ts';
import { absoluteFiles, type ConfinedFiles, createConfinedFiles } from '../files/sandbox-files.ts';
import { type HostDoors, throughProxy } from '../hosts/host-doors.ts';
import type { HostRequest } from '../hosts/host-proxy.ts';
import type { ResourceGroup, Usage } from '../process/resource-group.ts';
import type { CommandResult, RunOptions, Sandbox, SandboxFile } from '../sandbox.ts';
import type { CommandRunner, Containment, Hiding, Lent } from './containment.ts';
import { runProcess } from './run-process.ts';
import { type OwnFolders, removeSandboxFolders } from './sandbox-folders.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

type Setup = {
  provider: string;
  workdir: string;
  folders: OwnFolders;
  environment: Record<string, string>;
  containment: Containment | CommandRunner;
  seenFolders?: readonly string[];
  /** What its commands may use together. */
  group: (Pick<ResourceGroup, 'usage' | 'remove'> & Partial<ResourceGroup>) | undefined;
  /** Absent: names are those of this machine. */
  requests?: NameRequests;
  /** Absent: it has the network of this machine. */
  ways?: HostDoors;
  /** Called when every command has ended, before the folders are removed. */
  onStop?: () => Promise<void>;
};

/** A sandbox on this machine: its commands are held together by `containment`, and its folders belong to it. */
export class ContainedSandbox implements Sandbox {
  readonly provider: string;
  readonly workdir: string;
  readonly folders?: readonly string[];
  readonly home: string;
  readonly #setup: Setup;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<CommandResult>>();
  #workingDirectory: string;
  #stopped: Promise<void> | undefined;
  #usage: Usage | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.provider = setup.provider;
    if (setup.seenFolders) this.folders = setup.seenFolders;
    this.workdir = this.seenPath(setup.workdir);
    this.#workingDirectory = this.workdir;
    this.home = this.seenPath(setup.folders.home);
  }

  hostPath(path: string): string {
    const { own, at } = this.#setup.folders.hiding ?? {};
    return own === undefined || at === undefined ? path : moved(path, at, own);
  }

  seenPath(path: string): string {
    return seenPath(this.#setup.folders.hiding, path);
  }

  getWorkingDirectory(): string {
    return this.#workingDirectory;
  }

  setWorkingDirectory(path: string): void {
    this.#workingDirectory = resolve(this.workdir, path);
  }

  async runCommand(command: string, args: string[] = [], options: RunOptions = {}): Promise<CommandResult> {
    const own = this.#stopping.signal;
    if (own.aborted) throw new WhetstoneError('sandbox-stopped', 'The sandbox has been stopped.');
    const { containment, environment, folders, ways } = this.#setup;
    assertUser(this.provider, options);
    const cwd = resolve(this.#workingDirectory, options.cwd ?? '.');
    await using lent = await lend(containment, options);
    const running = runProcess({
      argv: [command, ...args],
      env: throughProxy(environment, { ...options, env: { ...options.env, ...lent?.env } }, ways),
      lent,
      cwd: this.hostPath(cwd),
      folder: this.seenPath(cwd),
      containment,
      hiding: folders.hiding,
      groups: this.#setup.group?.folders,
      signals: options.signal ? [own, options.signal] : [own],
      options,
    });
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  runShell(script: string, options?: RunOptions): Promise<CommandResult> {
    return this.runCommand('/bin/sh', ['-c', script], options);
  }

  async readFile(path: string): Promise<string> {
    return (await this.readBytes(path)).toString('utf8');
  }

  readBytes(path: string): Promise<Buffer> {
    const { files, rest } = this.#locate(path);
    return files.read(rest);
  }

  writeFiles(files: Record<string, string>): Promise<void> {
    return this.uploadFiles(Object.entries(files).map(([path, content]) => ({ path, content })));
  }

  async uploadFiles(files: SandboxFile[]): Promise<void> {
    for (const { path, content, mode } of files) {
      const { files: place, rest } = this.#locate(path);
      await place.write(rest, content, mode);
    }
  }

  namesAsked(): readonly string[] | undefined {
    return this.#setup.requests?.names;
  }

  hostRequests(): readonly HostRequest[] | undefined {
    return this.#setup.ways?.requests();
  }

  usage(): Usage {
    return (
      this.#usage ?? this.#setup.group?.usage() ?? { cpuSeconds: null, peakMemoryBytes: null, exceeded: [] }
    );
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    // Nobody asks for the reason, and the default one is an exception with its stack.
    this.#stopping.abort('stopped');
    await Promise.allSettled(this.#running);
    this.#setup.ways?.close();
    await this.#setup.onStop?.();
    this.#usage = this.usage();
    await Promise.all([this.#setup.group?.remove(), removeSandboxFolders(this.#setup.folders)]);
  }

  /** An absolute path is used as it is, because the caller chose it. Any other path stays in its folder. */
  #locate(path: string): { files: ConfinedFiles; rest: string } {
    if (isAbsolute(path)) return { files: absoluteFiles, rest: this.hostPath(path) };
    const { folders, workdir } = this.#setup;
    if (path.startsWith('~/')) return { files: createConfinedFiles(folders.home), rest: path.slice(2) };
    return { files: createConfinedFiles(workdir), rest: path };
  }
}

function lend(
  { lend }: Pick<Containment, 'lend'>,
  { env = {}, lend: names = [] }: RunOptions,
): Promise<Lent> | undefined {
  const files = Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  return Object.keys(files).length === 0 ? undefined : lend?.(files);
}

/** The folders of a sandbox at the paths at which its commands see them. */
export function seenFolders({ hiding, home, temporary, runtime }: OwnFolders): SandboxFolders {
  const seen = (path: string) => seenPath(hiding, path);
  return { home: seen(home), temporary: seen(temporary), runtime: seen(runtime) };
}

function seenPath(hiding: Hiding | undefined, path: string): string {
  const { own, at } = hiding ?? {};
  return own === undefined || at === undefined ? path : moved(path, own, at);
}

/** As text: the kernel follows a link before the `..` behind it. */
const moved = (path: string, from: string, to: string): string =>
  path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;

function assertUser(provider: string, { root }: RunOptions): void {
  if (!root || (provider === 'process' && process.getuid?.() === 0)) return;
  const message = `The sandbox \`${provider}\` cannot run a command as root.`;
  throw new WhetstoneError('sandbox-root-unavailable', message);
}
