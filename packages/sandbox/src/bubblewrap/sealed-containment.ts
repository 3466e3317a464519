import { dirname } from 'node:path';
import { isUnder } from '../files/sandbox-files.ts';
import type { Owner, RootEntry } from '../process/launcher-interface.ts';
import type { Containment } from '../process-sandbox/containment.ts';
import { isRoot, namespaceTree } from '../process-sandbox/pid-namespace.ts';
import type { OwnFolders } from '../process-sandbox/sandbox-folders.ts';
import { lendCopies } from './lend-copies.ts';

/** What all sandboxes of a provider share. */
export type Seal = {
  bwrap: string;
  /** An empty folder. */
  stage: string;
  /** Whom commands run as, if not as the user of this process. */
  owner: Owner | undefined;
  /** What of this machine is seen, with the names that a sealed network has and with those of this machine. */
  visible: Record<'sealed' | 'open', readonly RootEntry[]>;
};

/** Of a sandbox: `door` is the id of an open one; without it, its commands have the network of this machine. */
export type SealedPlace = { workdir: string; folders: OwnFolders; door: number | undefined };

/** The first program inside. What comes before it may fail, and then the command has not started. */
const START = 'echo started >&3; exec "$@" 3>&-';

const NAMESPACES = ['user', 'pid', 'ipc', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`);

/**
 * A root of its own, made by the launcher, in which bubblewrap starts the command: without capabilities, in namespaces of
 * its own, and unable to make more of them.
 */
export function sealedContainment(
  { bwrap, stage, owner, visible }: Seal,
  { workdir, folders, door }: SealedPlace,
): Containment {
  const { uid, gid } = owner ?? ownUser();
  const used = usedFolders(workdir, folders);
  const shown = [...visible.sealed, ...used].some(({ path }) => isUnder('/tmp', path));
  // Files there are for the next command too. But nothing is put where an agent can have put links.
  const temporary: RootEntry = shown ? { kind: 'memory', path: '/tmp' } : use('/tmp', folders.temporary);
  const root = (network: 'sealed' | 'open'): RootEntry[] => [
    ...['/dev', '/etc', '/proc', '/run'].map((path): RootEntry => ({ kind: 'folder', path })),
    { kind: 'link', path: '/var/tmp', source: '/tmp' },
    ...[temporary, ...visible[network], ...used],
  ];
  const roots = { sealed: root('sealed'), open: root('open') };
  // A new /dev hides what was shown there. Its devices come from the old one.
  const hidden = visible.sealed.flatMap(({ path }) => (/^\/dev\/.*\//.test(path) ? [path] : []));
  const writable = ['/tmp', ...used.map(({ path }) => path)];
  const options = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...hidden.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...[...NAMESPACES, '--disable-userns', '--cap-drop', 'ALL'],
    ...['--uid', String(uid), '--gid', String(gid), '--hostname', 'sandbox'],
    ...['--die-with-parent', '--new-session'],
  ];
  return {
    processes: 'pid-namespace',
    canHide: true,
    lend: (files) => lendCopies(files, { beside: stage, owner }),
    launch: (argv, env, { folder = workdir, network, lent } = {}) => {
      const own = network === 'open' ? undefined : door;
      const seen = own === undefined ? roots.open : roots.sealed;
      return {
        file: bwrap,
        args: [...options, '--chdir', folder, '--', '/bin/sh', '-c', START, 'sh', ...argv],
        env,
        namespace: {
          inUserNamespace: !isRoot(),
          // This folder is only seen inside.
          folder: '/',
          sealing: {
            ...{ stage, root: lent ? [...seen, ...lent.entries] : seen },
            ...(own !== undefined && { door: own }),
            ...(owner && { user: owner }),
          },
        },
        // TERM would end bubblewrap itself, and the command at once with it.
        contain: (pid) => namespaceTree(pid, { guards: true }),
      };
    },
  };
}

const use = (path: string, source = path): Used => ({ kind: 'use', path, source });

type Used = { kind: 'use'; path: string; source: string };

/** The folder around the workspace if it is the sandbox's, at both of its paths; else each folder itself. */
export function usedFolders(workdir: string, { root, home, hiding }: OwnFolders): Used[] {
  if (hiding) return [use(hiding.own), ...(hiding.at === undefined ? [] : [use(hiding.at, hiding.own)])];
  return [use(workdir), use(root), ...(dirname(home) === root ? [] : [use(home)])];
}

const ownUser = (): Owner => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
