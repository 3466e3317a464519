import { mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { certificateVariables, hostsOf, networkOf, openHostDoors } from '../hosts/host-doors.ts';
import { launcherDoors } from '../process/launcher.ts';
import type { Doors, Owner } from '../process/launcher-interface.ts';
import { assertWorks, doesNotStart } from '../process-sandbox/assert-works.ts';
import { ContainedSandbox, seenFolders } from '../process-sandbox/contained-sandbox.ts';
import { groupWith, limitsOf } from '../process-sandbox/limits.ts';
import { findExecutable, isRoot } from '../process-sandbox/pid-namespace.ts';
import type { ProcessSandboxOptions } from '../process-sandbox/process-sandbox.ts';
import { makeSandboxFolders } from '../process-sandbox/sandbox-folders.ts';
import { sandboxEnvironment } from '../process-sandbox/scrubbed-environment.ts';
import type { SandboxOptions, SandboxProvider } from '../sandbox.ts';
import { createNameRequests } from './name-requests.ts';
import { makeEtc } from './own-etc.ts';
import { type Seal, sealedContainment, stageEntries, usedFolders } from './sealed-containment.ts';
import { sealedEnvironment } from './sealed-environment.ts';
import { visiblePaths } from './visible-paths.ts';

/** Whom commands run as where this process is root. A number that no system gives to a user. */
const NOBODYS: Owner = { uid: 64_300, gid: 64_300 };

const NEEDS_NAMESPACES =
  'It needs user namespaces, which some systems and containers forbid. `sandbox: process` needs none.';

/** Tried once per process. */
let works: Promise<void> | undefined;

/**
 * The sandbox `bubblewrap`, level 1 of the isolation ladder: a command sees the system's programs, the toolchains on its
 * PATH and its own folders, can write only the last, runs as a user who owns nothing else, and reaches no network but the
 * doors of its sandbox and the hosts that are listed.
 * @throws WhetstoneError `sandbox-unavailable`
 */
export async function createBubblewrapSandboxProvider(
  options: Pick<
    ProcessSandboxOptions,
    'scratch' | 'parentEnvironment' | 'readable' | 'limits' | 'hosts' | 'setupHosts'
  >,
): Promise<SandboxProvider> {
  const { bwrap, doors } = findParts();
  const limits = limitsOf(options.limits);
  const { parentEnvironment = process.env } = options;
  const hosts = hostsOf(options.hosts, options.setupHosts);
  const certificates = certificateVariables(hosts, parentEnvironment);
  const readable = [...(options.readable ?? []), ...Object.values(certificates)];
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const scratch = await realpath(options.scratch);
  const inherited = sealedEnvironment(parentEnvironment);
  const owner = isRoot() ? NOBODYS : undefined;
  const user = owner ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const backstage = mkdtempSync(join(scratch, 'b-'));
  const stage = join(backstage, 'stage');
  await mkdir(stage);
  const { etc, network } = makeEtc(join(backstage, 'etc'), user);
  const visible = [...visiblePaths(inherited, readable), ...etc];
  const seal: Seal = { bwrap, stage, owner, visible, network };
  await doors.openStage(stage, stageEntries(visible), !isRoot()).catch((error: unknown) => {
    throw doesNotStart('bubblewrap', messageOf(error), NEEDS_NAMESPACES);
  });

  const provider: SandboxProvider = {
    name: 'bubblewrap',
    ...(owner && { owner }),
    async describe() {
      const isolation = { processes: 'pid-namespace', neighbours: 'hidden' } as const;
      return { provider: 'bubblewrap', level: 1, ...isolation, ...networkOf(options), limits };
    },
    async start({ env, doors: ports, limits: own, ...places }: SandboxOptions) {
      const { workdir } = places;
      const folders = makeSandboxFolders(scratch, places, { canHide: true, owner });
      const requests = createNameRequests();
      const ways = await openHostDoors(hosts, ports);
      const door = await doors.open(ways.ports, requests.answer, { stage });
      const setupDoor = ways.setup && (await doors.open(ways.setup.ports, requests.answer, { stage }));
      const containment = sealedContainment(seal, {
        ...{ workdir, folders, door: door.id, setupDoor: setupDoor?.id },
      });
      const environment = {
        ...sandboxEnvironment(inherited, seenFolders(folders)),
        ...{ ...certificates, ...ways.env, ...env },
      };
      const group = groupWith(own ?? limits);
      return new ContainedSandbox({
        ...{ provider: 'bubblewrap', workdir, folders, environment, containment, group, requests, ways },
        seenFolders: usedFolders(workdir, folders).map(({ source }) => source),
        onStop: async () => void (await Promise.all([door.close(), setupDoor?.close()])),
      });
    },
  };
  works ??= assertWorks(provider, scratch, NEEDS_NAMESPACES);
  await works.catch((error: unknown) => {
    works = undefined;
    throw error;
  });
  return provider;
}

function findParts(): { bwrap: string; doors: Doors } {
  if (process.platform !== 'linux') {
    throw new WhetstoneError('sandbox-unavailable', 'The sandbox `bubblewrap` needs Linux.');
  }
  const bwrap = findExecutable('bwrap');
  if (bwrap === undefined) {
    throw new WhetstoneError('sandbox-unavailable', 'The sandbox `bubblewrap` needs the program bwrap.', {
      hint: 'Install it: apt install bubblewrap, dnf install bubblewrap, or apk add bubblewrap.',
    });
  }
  const doors = launcherDoors();
  if (doors) return { bwrap: realpathSync(bwrap), doors };
  throw new WhetstoneError('sandbox-unavailable', 'The sandbox `bubblewrap` needs Perl and Linux 5.3.', {
    hint: 'Install it: apt install perl-base, dnf install perl-interpreter, or apk add perl.',
  });
}
