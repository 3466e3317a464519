import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { absoluteFiles, type ConfinedFiles, createConfinedFiles } from '../files/sandbox-files.ts';
import type {
  CommandResult,
  RunOptions,
  Sandbox,
  SandboxFile,
  SandboxLevel,
  SandboxOptions,
  SandboxProvider,
} from '../sandbox.ts';
import type { Containment, Hiding } from './containment.ts';
import { createPidNamespaceContainment } from './pid-namespace.ts';
import { createProcessGroupContainment } from './process-group.ts';
import { runProcess } from './run-process.ts';
import { makeSandboxFolders, removeSandboxFolders } from './sandbox-folders.ts';
import { inheritedEnvironment, sandboxEnvironment } from './scrubbed-environment.ts';

export type ProcessSandboxOptions = {
  /** A folder, existing or new, for everything that the sandboxes make. The caller removes it when the run is over. */
  scratch: string;
  /** The environment from which allowed variables are taken. Default: that of this process. */
  parentEnvironment?: NodeJS.ProcessEnv;
  /** How process trees are held together. Default: a PID namespace if the machine allows one. */
  processes?: SandboxLevel['processes'];
};

/**
 * The sandbox `process`, level 0 of the isolation ladder: its own HOME, TMP and XDG folders, a scrubbed environment, no
 * standard input, and a process tree that ends with its command. It is for trusted agents only, because a program can
 * read and write whatever the user can. A user who is not root gets the PID namespace through a user namespace, in
 * which set-user-id programs (`sudo`) do not work.
 */
export async function createProcessSandboxProvider(options: ProcessSandboxOptions): Promise<SandboxProvider> {
  if (process.platform === 'win32') {
    throw new WhetstoneError('sandbox-unavailable', 'The sandbox `process` needs Linux or macOS.', {
      hint: 'On Windows, run Whetstone in WSL.',
    });
  }
  const containment = await chooseContainment(options.processes);
  const { parentEnvironment = process.env } = options;
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const scratch = await realpath(options.scratch);
  const inherited = inheritedEnvironment(parentEnvironment);
  return {
    name: 'process',
    async describe() {
      const { processes, canHide } = containment;
      const neighbours = canHide ? 'hidden' : 'visible';
      return { provider: 'process', level: 0, processes, neighbours, network: 'open' };
    },
    async start({ env, ...places }: SandboxOptions) {
      const { workdir, at } = places;
      if (at !== undefined && !containment.canHide) throw new TypeError('`at` needs hidden neighbours');
      const folders = makeSandboxFolders(scratch, places, containment.canHide);
      const seen = (path: string) => seenPath(folders.hiding, path);
      const { home, temporary, runtime } = folders;
      const ownFolders = { home: seen(home), temporary: seen(temporary), runtime: seen(runtime) };
      const environment = { ...sandboxEnvironment(inherited, ownFolders), ...env };
      return new ProcessSandbox({ workdir, folders, environment, containment });
    },
  };
}

async function chooseContainment(wanted: SandboxLevel['processes'] | undefined): Promise<Containment> {
  if (wanted === 'descendants') return createProcessGroupContainment();
  const namespace = await createPidNamespaceContainment();
  if (!namespace && wanted === 'pid-namespace') {
    throw new WhetstoneError('sandbox-unavailable', 'This machine does not allow PID namespaces.', {
      hint: 'Install util-linux (`unshare`, `setpriv`) and allow user namespaces, or run as root.',
    });
  }
  return namespace ?? createProcessGroupContainment();
}

type Setup = {
  workdir: string;
  folders: ReturnType<typeof makeSandboxFolders>;
  environment: Record<string, string>;
  containment: Containment;
};

class ProcessSandbox implements Sandbox {
  readonly provider = 'process';
  readonly workdir: string;
  readonly home: string;
  readonly #setup: Setup;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<CommandResult>>();
  #workingDirectory: string;
  #stopped: Promise<void> | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
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
    assertUser(options);
    const { containment, environment, folders } = this.#setup;
    const cwd = resolve(this.#workingDirectory, options.cwd ?? '.');
    const running = runProcess({
      argv: [command, ...args],
      env: { ...environment, ...options.env },
      cwd: this.hostPath(cwd),
      folder: folders.hiding?.at === undefined ? undefined : this.seenPath(cwd),
      containment,
      hiding: folders.hiding,
      signal: options.signal ? AbortSignal.any([own, options.signal]) : own,
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

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#running);
    await removeSandboxFolders(this.#setup.folders);
  }

  /** An absolute path is used as it is, because the caller chose it. Any other path stays in its folder. */
  #locate(path: string): { files: ConfinedFiles; rest: string } {
    if (isAbsolute(path)) return { files: absoluteFiles, rest: this.hostPath(path) };
    const { folders, workdir } = this.#setup;
    if (path.startsWith('~/')) return { files: createConfinedFiles(folders.home), rest: path.slice(2) };
    return { files: createConfinedFiles(workdir), rest: path };
  }
}

function seenPath(hiding: Hiding | undefined, path: string): string {
  const { own, at } = hiding ?? {};
  return own === undefined || at === undefined ? path : moved(path, own, at);
}

/** As text: the kernel follows a link before the `..` behind it. */
const moved = (path: string, from: string, to: string): string =>
  path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;

function assertUser({ root }: RunOptions): void {
  if (!root || process.getuid?.() === 0) return;
  throw new WhetstoneError('sandbox-root-unavailable', 'The sandbox `process` cannot run a command as root.');
}
