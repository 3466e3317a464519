import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { sealedEnvironment } from '../bubblewrap/sealed-environment.ts';
import { visiblePaths } from '../bubblewrap/visible-paths.ts';
import { hostsOf, networkOf } from '../hosts/host-doors.ts';
import { startProgram } from '../process/launcher.ts';
import { assertWorks } from '../process-sandbox/assert-works.ts';
import { ContainedSandbox } from '../process-sandbox/contained-sandbox.ts';
import type { CommandRunner, Lent } from '../process-sandbox/containment.ts';
import { groupWith, limitsOf } from '../process-sandbox/limits.ts';
import { SYSTEM_PATH } from '../process-sandbox/pid-namespace.ts';
import { createProcessGroupContainment } from '../process-sandbox/process-group.ts';
import type { ProcessSandboxOptions } from '../process-sandbox/process-sandbox.ts';
import { makeSandboxFolders, type OwnFolders } from '../process-sandbox/sandbox-folders.ts';
import { sandboxEnvironment } from '../process-sandbox/scrubbed-environment.ts';
import type { SandboxOptions, SandboxProvider } from '../sandbox.ts';
import { openProxyPorts, type ProxyPorts } from './proxy-ports.ts';
import { filesOf, networkConfig, type RuntimePlatform } from './runtime-config.ts';
import {
  closeLibrary,
  loadManager,
  type Manager,
  openLibrary,
  programsOfLibrary,
  takeTurn,
} from './runtime-session.ts';
import { startScript, word } from './start-script.ts';

/** Where the library's bridge to its two proxies listens in the network of a command, on Linux. */
const BRIDGE = { http: 3128, socks: 1080 };

/**
 * The sandbox `sandbox-runtime`, level 1 of the isolation ladder, by `@anthropic-ai/sandbox-runtime`: Seatbelt on macOS. A command
 * reads the system's programs, the toolchains on its PATH and its own folders, writes only the last, and reaches the gateway
 * and listed hosts. On macOS it runs in the network of this machine, where every other port is closed to it, also those that
 * it opens itself. On Linux `bubblewrap` holds more.
 * @throws WhetstoneError `sandbox-unavailable`
 */
export async function createSandboxRuntimeProvider(
  options: Pick<
    ProcessSandboxOptions,
    'scratch' | 'parentEnvironment' | 'readable' | 'limits' | 'hosts' | 'setupHosts'
  >,
): Promise<SandboxProvider> {
  const platform = platformHere();
  const manager = await loadManager();
  const limits = limitsOf(options.limits);
  const hosts = hostsOf(options.hosts, options.setupHosts);
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const scratch = await realpath(options.scratch);
  const inherited = sealedEnvironment(options.parentEnvironment ?? process.env);
  // A link is followed there, so what it leads to has to be seen as well.
  const seen = visiblePaths(inherited, options.readable ?? []).flatMap(({ path }) => [
    path,
    realpathSync(path),
  ]);
  const readable = [...seen, ...programsOfLibrary()];
  const isBridged = platform === 'linux';

  const provider: SandboxProvider = {
    name: 'sandbox-runtime',
    movesTrees: false,
    async describe() {
      const isolation = { processes: 'descendants', neighbours: 'hidden' } as const;
      // Commands that no agent chose have no other network.
      const network = networkOf({ setupHosts: [], ...options });
      return { provider: 'sandbox-runtime', level: 1, ...isolation, ...network, limits };
    },
    async start({ env, doors = new Map(), limits: own, ...places }: SandboxOptions) {
      if (places.at !== undefined) throw new TypeError('`at` needs mounts');
      const [gatewayPort, ...more] = doors.keys();
      if (more.length > 0) throw new TypeError('it has one door');
      const { workdir } = places;
      const folders = makeSandboxFolders(scratch, places, { canHide: false });
      const used = ownFolders(scratch, workdir, folders).map((path) => realpathSync(path));
      const group = groupWith(own ?? limits);
      const { ways, ...proxies } = await openProxyPorts(hosts, (port) => (isBridged ? BRIDGE.socks : port));
      const runner = commandRunner(manager, {
        ...{ platform, readable, folders: used, root: folders.root },
        ...{ gatewayPort, proxies, groups: group?.folders },
      });
      openLibrary();
      return new ContainedSandbox({
        ...{ provider: 'sandbox-runtime', workdir, folders, containment: runner, group, ways },
        environment: { ...sandboxEnvironment(inherited, folders), ...ways.env, ...env },
        seenFolders: used,
        onStop: () => closeLibrary(manager),
      });
    },
  };
  await assertWorks(provider, scratch, 'See the README of @anthropic-ai/sandbox-runtime for what it needs.');
  return provider;
}

/** The folder around the workspace if it is the sandbox's, else each folder itself. */
function ownFolders(scratch: string, workdir: string, { root, home }: OwnFolders): string[] {
  const around = dirname(root);
  return around === scratch ? [...new Set([workdir, root, home])] : [around];
}

function platformHere(): RuntimePlatform {
  const { platform } = process;
  if (platform === 'darwin' || platform === 'linux') return platform;
  throw new WhetstoneError('sandbox-unavailable', 'The sandbox `sandbox-runtime` needs macOS or Linux.');
}

type Place = {
  platform: RuntimePlatform;
  readable: readonly string[];
  /** What its commands write. */
  folders: readonly string[];
  /** One of them, for what is made for a command. */
  root: string;
  gatewayPort: number | undefined;
  proxies: Omit<ProxyPorts, 'ways'>;
  groups: readonly string[] | undefined;
};

/** Each command is a text of a shell that the library makes. What it starts is found by its group and by a mark. */
function commandRunner(
  manager: Manager,
  { gatewayPort, proxies, groups, root, ...place }: Place,
): CommandRunner {
  const containment = createProcessGroupContainment({ wraps: true });
  const isBridged = place.platform === 'linux';
  const forward = isBridged && gatewayPort !== undefined ? { from: gatewayPort, to: BRIDGE.http } : undefined;

  async function wrap(text: string, lent: Lent | undefined, proxyPort: number | undefined) {
    const turn = await takeTurn(manager, networkConfig({ gatewayPort, proxyPort }));
    // On Linux its bridges end at sockets among the files.
    const sockets = [manager.getLinuxHttpSocketPath(), manager.getLinuxSocksSocketPath()];
    const more = [
      ...sockets.filter((path) => path !== undefined),
      ...(lent?.entries ?? []).map(({ path }) => path),
    ];
    const filesystem = filesOf({ ...place, lent: more });
    const { argv } = await manager
      .wrapWithSandboxArgv(text, '/bin/sh', { filesystem })
      .catch((error: unknown) => {
        turn.release();
        throw error;
      });
    // The bridge to the ports ends with the settings. A profile is the command's own.
    if (!isBridged) turn.release();
    return { argv, release: turn.release };
  }

  return {
    async lend(files) {
      // Commands are this user, and see paths of this machine.
      const named = Object.values(files).filter((path) => isAbsolute(path) && existsSync(path));
      const entries = named.map((path) => ({ kind: 'see' as const, path, source: path }));
      return { env: {}, entries, async [Symbol.asyncDispose]() {} };
    },
    async run({ argv, env, folder, network, lent, stdin }) {
      const script = join(root, `start-${randomUUID().slice(0, 8)}`);
      writeFileSync(script, startScript(argv, env, forward), { mode: 0o600 });
      const proxyPort = (network === 'open' ? proxies.setup : undefined) ?? proxies.own;
      const wrapped = await wrap(`exec env -i /bin/sh ${word(script)}`, lent, proxyPort);
      const [file = '', ...args] = wrapped.argv;
      const launch = containment.launch([file, ...args], { PATH: SYSTEM_PATH });
      const started = startProgram({ ...launch, cwd: folder, stdin, hasReport: true, groups });
      const { pid, ...streams } = await started.catch((error: unknown) => {
        wrapped.release();
        throw error;
      });
      const tree = launch.contain(pid);
      return {
        ...streams,
        tree: {
          ...tree,
          async sweep() {
            await tree.sweep();
            manager.cleanupAfterCommand();
            wrapped.release();
            await rm(script, { force: true });
          },
        },
      };
    },
  };
}
