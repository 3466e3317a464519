import { mkdir, realpath } from 'node:fs/promises';
import { WhetstoneError } from '@whetstone/errors';
import { reachableFrom } from '../probe/attacks.ts';
import type { Limits } from '../process/resource-group.ts';
import type { ContainerOptions, SandboxLevel, SandboxOptions, SandboxProvider } from '../sandbox.ts';
import { ContainedSandbox, seenFolders } from './contained-sandbox.ts';
import type { Containment } from './containment.ts';
import { groupWith, limitsOf } from './limits.ts';
import { createPidNamespaceContainment, isRoot } from './pid-namespace.ts';
import { createProcessGroupContainment } from './process-group.ts';
import { makeSandboxFolders } from './sandbox-folders.ts';
import { inheritedEnvironment, sandboxEnvironment } from './scrubbed-environment.ts';

export type ProcessSandboxOptions = {
  /** A folder, existing or new, for everything that the sandboxes make. The caller removes it when the run is over. */
  scratch: string;
  /** The environment from which allowed variables are taken. Default: that of this process. */
  parentEnvironment?: NodeJS.ProcessEnv;
  /** How process trees are held together. Default: a PID namespace if the machine allows one. */
  processes?: SandboxLevel['processes'];
  /** Absolute paths of programs and folders that commands read, where they see only what is listed. Default: none. */
  readable?: readonly string[];
  /** Of all commands of a sandbox together. Default: 3/4 of the memory and 4,096 processes, where they can be enforced. */
  limits?: Limits;
  /**
   * Hosts that commands reach, where they have no network of this machine: `NAME`, `*.NAME`, each with or without `:PORT`.
   * Default: none.
   */
  hosts?: readonly string[];
  /** Hosts that commands which no agent chose reach beside these. Default: they have the network of this machine. */
  setupHosts?: readonly string[];
  /** For sandboxes in containers. */
  container?: ContainerOptions;
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
  const limits = limitsOf(options.limits);
  const { parentEnvironment = process.env } = options;
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const scratch = await realpath(options.scratch);
  const inherited = inheritedEnvironment(parentEnvironment);
  return {
    name: 'process',
    async describe() {
      const { processes, canHide } = containment;
      const neighbours = canHide ? 'hidden' : 'visible';
      const hasNamespaces = processes === 'pid-namespace' || options.processes === 'descendants';
      const reachable = reachableFrom(processes, isRoot(), limits, hasNamespaces);
      return { provider: 'process', level: 0, processes, neighbours, network: 'open', limits, reachable };
    },
    async start({ env, limits: own, ...places }: SandboxOptions) {
      const { workdir, at } = places;
      if (at !== undefined && !containment.canHide) throw new TypeError('`at` needs hidden neighbours');
      const folders = makeSandboxFolders(scratch, places, containment);
      const environment = { ...sandboxEnvironment(inherited, seenFolders(folders)), ...env };
      const group = groupWith(own ?? limits);
      return new ContainedSandbox({
        ...{ provider: 'process', workdir, folders, environment, containment, group },
      });
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
