import { dirname, join } from 'node:path';
import { isUnder } from '../files/sandbox-files.ts';
import type { OwnEntry, Owner, StageEntry } from '../process/launcher-interface.ts';
import type { Containment } from '../process-sandbox/containment.ts';
import { isRoot, namespaceTree } from '../process-sandbox/pid-namespace.ts';
import type { OwnFolders } from '../process-sandbox/sandbox-folders.ts';
import { lendCopies } from './lend-copies.ts';
import type { Shown } from './own-etc.ts';
import type { Visible } from './visible-paths.ts';

/** What all sandboxes of a provider share. */
export type Seal = {
  bwrap: string;
  /** An open stage with `stageEntries`. */
  stage: string;
  /** Whom commands run as, if not as the user of this process. */
  owner: Owner | undefined;
  /** What of this machine is seen. */
  visible: readonly Visible[];
  /** What is seen in place of some of it by commands that have the network of this machine. */
  network: readonly Shown[];
};

/**
 * Of a sandbox: `door` and `setupDoor` are the ids of open ones. Commands that no agent chose have the latter; without it,
 * the network of this machine.
 */
export type SealedPlace = {
  workdir: string;
  folders: OwnFolders;
  door: number;
  setupDoor?: number | undefined;
};

/** The first program inside. What comes before it may fail, and then the command has not started. */
const START = 'echo started >&3; exec "$@" 3>&-';

const NAMESPACES = ['user', 'pid', 'ipc', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`);

/** What all commands of a provider see. */
export const stageEntries = (visible: readonly Visible[]): StageEntry[] => [
  ...['/dev/pts', '/dev/shm', '/etc', '/proc', '/run', '/tmp'].map(folder),
  ...[link('/dev/fd', '/proc/self/fd'), link('/dev/ptmx', 'pts/ptmx'), link('/var/tmp', '/tmp')],
  ...['stdin', 'stdout', 'stderr'].map((name, index) => link(join('/dev', name), `/proc/self/fd/${index}`)),
  ...visible.filter((entry) => !isInMemory(entry)),
];

/** In a folder that each command gets empty. */
const isInMemory = ({ path }: { path: string }): boolean =>
  isUnder('/tmp', path) || isUnder('/dev/shm', path);

/**
 * A root of its own, made by the launcher, in which bubblewrap starts the command: without capabilities, in namespaces of
 * its own, and unable to make more of them.
 */
export function sealedContainment(
  { bwrap, stage, owner, visible, network: ofThisMachine }: Seal,
  { workdir, folders, door: ownDoor, setupDoor }: SealedPlace,
): Containment {
  const { uid, gid } = owner ?? ownUser();
  const used = usedFolders(workdir, folders);
  const shown = [...visible, ...used].some(({ path }) => isUnder('/tmp', path));
  const own: OwnEntry[] = [
    // Files there are for the next command too. But nothing is put where an agent can have put links.
    shown ? { kind: 'memory', path: '/tmp' } : use('/tmp', folders.temporary),
    { kind: 'memory', path: '/dev/shm' },
    { kind: 'terminals', path: '/dev/pts' },
    ...visible.filter(isInMemory),
    ...used,
  ];
  const options = [
    // The launcher has locked what is there, without devices but those of /dev.
    ...['--dev-bind', '/', '/', '--proc', '/proc'],
    ...[...NAMESPACES, '--disable-userns', '--cap-drop', 'ALL'],
    ...['--uid', String(uid), '--gid', String(gid), '--hostname', 'sandbox'],
    ...['--die-with-parent', '--new-session'],
  ];
  return {
    processes: 'pid-namespace',
    canHide: true,
    lend: (files) => lendCopies(files, { beside: stage, owner }),
    launch: (argv, env, { folder = workdir, network, lent } = {}) => {
      const door = network === 'open' ? setupDoor : ownDoor;
      const isOpen = door === undefined;
      return {
        file: bwrap,
        args: [...options, '--chdir', folder, '--', '/bin/sh', '-c', START, 'sh', ...argv],
        env,
        namespace: {
          inUserNamespace: !isRoot(),
          // This folder is only seen inside.
          folder: '/',
          sealing: {
            stage,
            own: [...(isOpen ? ofThisMachine : []), ...own, ...(lent?.entries ?? [])],
            ...(!isOpen && { door }),
            ...(owner && { user: owner }),
          },
        },
        contain: (pid) => namespaceTree(pid, { isFirst: isRoot() }),
      };
    },
  };
}

const folder = (path: string): StageEntry => ({ kind: 'folder', path });

const link = (path: string, source: string): StageEntry => ({ kind: 'link', path, source });

const use = (path: string, source = path): Used => ({ kind: 'use', path, source });

type Used = { kind: 'use'; path: string; source: string };

/** The folder around the workspace if it is the sandbox's, at both of its paths; else each folder itself. */
export function usedFolders(workdir: string, { root, home, hiding }: OwnFolders): Used[] {
  if (hiding) return [use(hiding.own), ...(hiding.at === undefined ? [] : [use(hiding.at, hiding.own)])];
  return [use(workdir), use(root), ...(dirname(home) === root ? [] : [use(home)])];
}

const ownUser = (): Owner => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
