import { mkdtempSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { lendCopies } from '../bubblewrap/lend-copies.ts';
import { createNameRequests } from '../bubblewrap/name-requests.ts';
import { NETWORK, writeOwnFiles } from '../bubblewrap/own-etc.ts';
import { usedFolders } from '../bubblewrap/sealed-containment.ts';
import { certificateVariables, hostsOf, networkOf, openHostDoors } from '../hosts/host-doors.ts';
import { launcherDoors } from '../process/launcher.ts';
import type { Owner } from '../process/launcher-interface.ts';
import { assertWorks } from '../process-sandbox/assert-works.ts';
import { ContainedSandbox, seenFolders } from '../process-sandbox/contained-sandbox.ts';
import { limitsOf } from '../process-sandbox/limits.ts';
import { isRoot } from '../process-sandbox/pid-namespace.ts';
import type { ProcessSandboxOptions } from '../process-sandbox/process-sandbox.ts';
import { makeSandboxFolders } from '../process-sandbox/sandbox-folders.ts';
import { sandboxEnvironment } from '../process-sandbox/scrubbed-environment.ts';
import type { SandboxOptions, SandboxProvider } from '../sandbox.ts';
import { buildImage } from './build-image.ts';
import { type Container, sweepContainers } from './container.ts';
import { openContainerPool } from './container-pool.ts';
import { enforcedBy, findImage, openEngine, unavailable } from './engine.ts';

/** Whom commands run as. A number that no system gives to a user. */
const NOBODYS: Owner = { uid: 64_300, gid: 64_300 };

/**
 * The sandbox `docker`, level 2 of the isolation ladder: a command runs in a container of an image, as a user without
 * capabilities, can write only its own folders, and reaches no network but the doors of its sandbox and the hosts that are
 * listed.
 * @throws WhetstoneError `sandbox-unavailable`, `sandbox-image-missing`
 */
export async function createDockerSandboxProvider(
  options: Pick<
    ProcessSandboxOptions,
    'scratch' | 'readable' | 'limits' | 'hosts' | 'setupHosts' | 'container'
  >,
): Promise<SandboxProvider> {
  const { image: wanted, build, runtime, socket } = options.container ?? missingImage();
  const doors = launcherDoors();
  if (!isRoot() || !doors) throw unavailable('it needs root, Linux 5.3 and Perl', NEEDS_ROOT);
  const engine = await openEngine(socket);
  await sweepContainers(engine);
  const image = await findImage(engine, wanted, build && (() => buildImage(engine, wanted, build)));
  const limits = limitsOf(options.limits, await enforcedBy(engine));
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const scratch = await realpath(options.scratch);
  const etc = join(mkdtempSync(join(scratch, 'b-')), 'etc');
  await mkdir(etc, { mode: 0o755 });
  const own = writeOwnFiles(etc, NOBODYS);
  const hosts = hostsOf(options.hosts, options.setupHosts);
  const certificates = certificateVariables(hosts, process.env);
  const shared = [
    ...own.map((name) => ({
      ...{ source: join(etc, name), target: join('/etc', name), isOfSeal: NETWORK.includes(name) },
    })),
    ...[...new Set([...(options.readable ?? []), ...Object.values(certificates)])].map((path) => ({
      source: path,
      target: path,
    })),
  ].map((mount) => ({ ...mount, isReadOnly: true }));

  const provider: SandboxProvider = {
    name: 'docker',
    owner: NOBODYS,
    async describe() {
      const isolation = { processes: 'pid-namespace', neighbours: 'hidden' } as const;
      const container = { ...image, runtime: runtime ?? null };
      return { provider: 'docker', level: 2, ...isolation, ...networkOf(options), limits, container };
    },
    async start({ env, doors: ports, limits: own, ...places }: SandboxOptions) {
      const { workdir } = places;
      const folders = makeSandboxFolders(scratch, places, { canHide: true, owner: NOBODYS });
      const used = usedFolders(workdir, folders);
      const requests = createNameRequests();
      const mounts = [
        ...shared,
        ...used.map(({ source, path }) => ({ source, target: path, isReadOnly: false })),
      ];
      const plan = { engine, image: image.id, runtime, user: NOBODYS, limits: own ?? limits, mounts };
      const ways = await openHostDoors(hosts, ports);
      const pool = await openContainerPool(plan, {
        openDoor: (container, network) => {
          const { ports: all } = (network === 'setup' && ways.setup) || ways;
          return doors.open(all, requests.answer, { join: networkPath(container) });
        },
        hasSetup: ways.setup !== undefined,
        lend: (files) => lendCopies(files, { beside: etc, owner: NOBODYS }),
      });
      const environment = {
        ...sandboxEnvironment({ USER: 'user', LOGNAME: 'user' }, seenFolders(folders)),
        ...{ ...certificates, ...ways.env, ...env },
      };
      return new ContainedSandbox({
        ...{ provider: 'docker', workdir, folders, environment, requests, ways },
        ...{ containment: pool, group: pool },
        seenFolders: used.map(({ source }) => source),
      });
    },
  };
  await assertWorks(
    provider,
    scratch,
    'The engine has to run on this machine, and the image needs /bin/sh and cat.',
  );
  return provider;
}

const NEEDS_ROOT =
  'The way to the gateway is opened inside the network of a container, which only root may enter. `sandbox: bubblewrap` needs no root.';

function missingImage(): never {
  const message = 'The sandbox `docker` needs an image, and none is named.';
  throw new WhetstoneError('sandbox-image-missing', message);
}

/**
 * The path of a container's network. The engine may count processes of another machine, such as a virtual one.
 * @throws WhetstoneError `sandbox-unavailable`
 */
function networkPath({ id, pid }: Container): string {
  const path = `/proc/${pid}/ns/net`;
  try {
    const isIts = readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes(id);
    if (isIts && readlinkSync(path) !== readlinkSync('/proc/self/ns/net')) return path;
  } catch {
    // There is no such process here.
  }
  throw unavailable(
    'the processes of its containers cannot be seen',
    'The engine has to run on this machine, not in a virtual one.',
  );
}
