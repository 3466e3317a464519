import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { briefFolder } from '../files/brief-folder.ts';
import { makesNamespaces, startProgram } from '../process/launcher.ts';
import { descendantsOf, listProcesses, type ProcessEntry, signalProcess } from '../process/process-list.ts';
import type { ContainedTree, Containment } from './containment.ts';

/**
 * The first process of the namespace. When it ends, the kernel ends all others, whatever they did with sessions and
 * parents. So it only has to outlive the command, send TERM to what is left, and wait a little. Argument 1 is the
 * command's PATH: the script itself finds `mount` and `sleep` in the system's folders. Argument 2 drops what the command
 * must not have. Arguments 3 to 6 are the paths of a `Hiding`, or empty, and 7 is the folder inside. An own folder that is covered is still reached by
 * a descriptor.
 */
const FIRST_PROCESS = `
exec 4>&2 2>/dev/null
command_path=$1 drop=$2 common=$3 own=$4 view=$5 at=$6 folder=$7
shift 7
if [ -n "$common" ]; then
  exec 5<"$own"
  mount -n --bind -o ro "$view" "$common" && mount -n -c --rbind /proc/self/fd/5 "$own" &&
    { [ -z "$at" ] || mount -n -c --rbind /proc/self/fd/5 "$at"; } && cd "\${folder:-$PWD}" || {
    echo "the folders beside $own cannot be hidden" >&4
    exit 1
  }
  exec 5<&-
fi
echo started >&3
( PATH=$command_path; export PATH; exec $drop "$@" ) 2>&4 3>&- 4>&-
status=$?
echo "exited $status" >&3
exec 3>&- 4>&-
if kill -s TERM -- -1; then
  polls=0
  while [ "$polls" -lt 40 ] && kill -s 0 -- -1; do
    sleep 0.05 || sleep 1
    polls=$((polls + 1))
  done
fi
exit "$status"
`;

export const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin';

let probed: Promise<Containment | undefined> | undefined;

/** How this machine makes PID namespaces, probed once per process. `undefined` if it makes none. */
export function createPidNamespaceContainment(): Promise<Containment | undefined> {
  probed ??= probe();
  return probed;
}

/**
 * By the process that starts commands, or with the programs of util-linux; as root, or through a user namespace; with
 * mounts of its own, or, with util-linux only, without.
 */
async function probe(): Promise<Containment | undefined> {
  if (process.platform !== 'linux') return undefined;
  for (const containment of [...byLauncher(), ...withUtilLinux()]) {
    if (await works(containment)) return containment;
  }
  return undefined;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

function byLauncher(): Containment[] {
  if (!makesNamespaces) return [];
  return (isRoot() ? [false, true] : [true]).map((inUserNamespace) => ({
    processes: 'pid-namespace',
    canHide: true,
    launch: ([file, ...args], env, { hiding, folder } = {}) => ({
      file,
      args,
      env,
      namespace: { inUserNamespace, hiding, folder },
      contain: (pid) => namespaceTree(pid, { isFirst: !inUserNamespace }),
    }),
  }));
}

/** Where the process that starts commands makes no namespaces. The surest way first. */
export function withUtilLinux(): Containment[] {
  const setpriv = findExecutable('setpriv');
  const unshare = findExecutable('unshare');
  if (!setpriv || !unshare) return [];
  const inUserNamespace = ['--user', '--map-current-user'];
  const drop = `${setpriv} --ambient-caps=-all --inh-caps=-all --`;
  const ways: Way[] = [
    ...(isRoot() ? [{ flags: [], drop: '', canHide: true }] : []),
    { flags: [...inUserNamespace, '--keep-caps'], drop, canHide: true },
    ...(isRoot() ? [{ flags: [], drop: '', canHide: false }] : []),
    { flags: inUserNamespace, drop: '', canHide: false },
  ];
  return ways.map((way) => containmentWith(setpriv, unshare, way));
}

/** `drop`: the words before a command that take the rights from it which the first process needs. */
type Way = { flags: string[]; drop: string; canHide: boolean };

function containmentWith(setpriv: string, unshare: string, { flags, drop, canHide }: Way): Containment {
  const namespaces = [
    '--pid',
    '--fork',
    '--kill-child=KILL',
    '--mount-proc',
    // Mounts made inside stay inside, and no command keeps a workspace alive that is unmounted outside.
    '--propagation=slave',
    ...flags,
  ];
  return {
    processes: 'pid-namespace',
    canHide,
    launch(argv, env, { hiding, folder = '' } = {}) {
      const { common, own, view, at = '' } = hiding ?? { common: '', own: '', view: '' };
      const paths = [common, own, view, at, folder];
      const first = ['/bin/sh', '-c', FIRST_PROCESS, 'sh', env.PATH ?? SYSTEM_PATH, drop, ...paths];
      return {
        file: setpriv,
        // The parent-death signal ends the namespace when this process is killed and cannot clean up.
        args: ['--pdeathsig=KILL', unshare, ...namespaces, '--', ...first, ...argv],
        env: { ...env, PATH: SYSTEM_PATH },
        contain: (pid) => namespaceTree(pid),
      };
    },
  };
}

/**
 * `isFirst`: `pid` is the first process of the namespace. Default: it is `unshare`, or a process that does the same, whose
 * only child is the first process. All other processes are below the first one, which itself gets no TERM.
 */
export function namespaceTree(pid: number, { isFirst = false } = {}): ContainedTree {
  const firstOf = (processes: readonly ProcessEntry[]): number =>
    (isFirst ? undefined : processes.find((entry) => entry.parent === pid)?.pid) ?? pid;
  return {
    async terminate() {
      const processes = await listProcesses();
      const first = firstOf(processes);
      const others = descendantsOf([first], processes);
      for (const other of others) signalProcess(other, 'SIGTERM');
      // The command does not run yet.
      if (others.length === 0) signalProcess(first, 'SIGKILL');
    },
    async kill() {
      // A process above stays and waits: it returns only when the whole namespace is gone.
      signalProcess(firstOf(await listProcesses()), 'SIGKILL');
    },
    async sweep() {},
  };
}

async function works(containment: Containment): Promise<boolean> {
  const common = await mkdtemp(join(await realpath(tmpdir()), briefFolder()));
  try {
    const hiding = { common, own: join(common, 'own'), view: join(common, 'view') };
    for (const folder of [hiding.own, join(hiding.view, 'own')]) await mkdir(folder, { recursive: true });
    const script = `test -e /proc/$$/stat && test -d own ${containment.canHide ? '&& test ! -e view' : ''} && exit 7`;
    const launch = containment.launch(
      ['sh', '-c', `cd .. && ${script}`],
      { PATH: SYSTEM_PATH },
      containment.canHide ? { hiding } : {},
    );
    const { file, args, env, namespace } = launch;
    const started = await startProgram({ file, args, env, namespace, cwd: hiding.own, hasReport: true });
    for (const stream of [started.stdout, started.stderr, started.report]) stream.resume();
    const timer = setTimeout(() => signalProcess(started.pid, 'SIGKILL'), 10_000);
    const code = await started.exited;
    clearTimeout(timer);
    return code === 7;
  } catch {
    return false;
  } finally {
    await rm(common, { recursive: true, force: true });
  }
}

export function findExecutable(name: string): string | undefined {
  const candidates = [...SYSTEM_PATH.split(delimiter), '/usr/sbin', '/sbin'].map((folder) =>
    join(folder, name),
  );
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
