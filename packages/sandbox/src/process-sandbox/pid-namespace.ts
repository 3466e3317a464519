import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { descendantsOf, listProcesses, signalProcess } from '../process/process-list.ts';
import type { ContainedTree, Containment } from './containment.ts';

/**
 * The first process of the namespace. When it ends, the kernel ends all others, whatever they did with sessions and
 * parents. So it only has to outlive the command, send TERM to what is left, and wait a little. Argument 1 is the
 * command's PATH: the script itself finds `sleep` in the system's folders.
 */
const FIRST_PROCESS = `
exec 4>&2 2>/dev/null
command_path=$1
shift
echo started >&3
( PATH=$command_path; export PATH; exec "$@" ) 2>&4 3>&- 4>&-
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

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin';

let probed: Promise<Containment | undefined> | undefined;

/** How this machine makes PID namespaces, probed once per process. `undefined` if it makes none. */
export function createPidNamespaceContainment(): Promise<Containment | undefined> {
  probed ??= probe();
  return probed;
}

/** Tries as root, then through a user namespace. */
async function probe(): Promise<Containment | undefined> {
  if (process.platform !== 'linux') return undefined;
  const setpriv = findExecutable('setpriv');
  const unshare = findExecutable('unshare');
  if (!setpriv || !unshare) return undefined;
  const ways =
    process.getuid?.() === 0 ? [[], ['--user', '--map-current-user']] : [['--user', '--map-current-user']];
  for (const userFlags of ways) {
    const containment = containmentWith(setpriv, [
      unshare,
      '--pid',
      '--fork',
      '--kill-child=KILL',
      '--mount-proc',
      // Mounts made inside stay inside, and no command keeps a workspace alive that is unmounted outside.
      '--propagation=slave',
      ...userFlags,
    ]);
    if (await works(containment)) return containment;
  }
  return undefined;
}

function containmentWith(setpriv: string, unshare: string[]): Containment {
  return {
    processes: 'pid-namespace',
    launch(argv, env) {
      return {
        file: setpriv,
        // The parent-death signal ends the namespace when this process is killed and cannot clean up.
        args: [
          '--pdeathsig=KILL',
          ...unshare,
          '--',
          '/bin/sh',
          '-c',
          FIRST_PROCESS,
          'sh',
          env.PATH ?? SYSTEM_PATH,
          ...argv,
        ],
        env: { ...env, PATH: SYSTEM_PATH },
        contain: namespaceTree,
      };
    },
  };
}

/** `pid` is `unshare`. Its only child is the first process of the namespace; all other processes are below that one. */
function namespaceTree(pid: number): ContainedTree {
  const inside = async (): Promise<{ first: number | undefined; others: number[] }> => {
    const processes = await listProcesses();
    const first = processes.find((entry) => entry.parent === pid)?.pid;
    return { first, others: first === undefined ? [] : descendantsOf([first], processes) };
  };
  return {
    async terminate() {
      const { first, others } = await inside();
      if (first === undefined) signalProcess(pid, 'SIGTERM');
      for (const other of others) signalProcess(other, 'SIGTERM');
    },
    async kill() {
      const { first } = await inside();
      // `unshare` stays and waits: it returns only when the whole namespace is gone.
      signalProcess(first ?? pid, 'SIGKILL');
    },
    async sweep() {},
  };
}

async function works(containment: Containment): Promise<boolean> {
  const launch = containment.launch(['sh', '-c', 'test -e /proc/$$/stat && exit 7'], { PATH: SYSTEM_PATH });
  const child = spawn(launch.file, launch.args, {
    env: launch.env,
    stdio: ['ignore', 'ignore', 'ignore', 'ignore'],
    detached: true,
    timeout: 10_000,
    killSignal: 'SIGKILL',
  });
  const [code] = await once(child, 'exit').catch(() => [undefined]);
  return code === 7;
}

function findExecutable(name: string): string | undefined {
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
