import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ContainedTree, type Containment, GRACE_MS } from './containment.ts';
import {
  descendantsOf,
  findProcess,
  hasInEnvironment,
  listProcesses,
  signalProcess,
} from './process-list.ts';

const LAUNCHER = 'echo started >&3; exec "$@" 3>&-';

/** A name that terminals set as well, so that it tells a program nothing about where it runs. */
const MARKER_NAME = 'TERM_SESSION_ID';

/**
 * Reads `add GROUP MARKER` and `remove MARKER` and, when the pipe ends (this process is gone, however it went), kills
 * what was added and not removed. `GROUP` is `none` for a command that is about to start.
 */
const WATCHDOG = `
watched=
while read -r verb first marker; do
  case $verb in
    add) watched="$watched $first:$marker" ;;
    remove)
      rest=
      for entry in $watched; do
        [ "\${entry#*:}" = "$first" ] || rest="$rest $entry"
      done
      watched=$rest
      ;;
  esac
done
for entry in $watched; do
  [ "\${entry%%:*}" = none ] || kill -s KILL -- "-\${entry%%:*}"
  for folder in /proc/[0-9]*; do
    grep -q "\${entry#*:}" "$folder/environ" && kill -s KILL "\${folder#/proc/}"
  done
done
`;

const POLL_MS = 25;

/**
 * A process group, and a search for what left it: by session, by descent, and (on Linux) by a marker in the
 * environment that children inherit. A process that leaves its session *and* its parent *and* clears its environment
 * is not found; that is what `descendants` in the manifest says.
 */
export function createProcessGroupContainment(): Containment {
  let watchdog: ChildProcess | undefined;
  const tell = (line: string): void => {
    watchdog ??= startWatchdog();
    watchdog.stdin?.write(`${line}\n`);
  };
  return {
    processes: 'descendants',
    launch(argv, env) {
      const marker = randomUUID();
      // Before the start: we may be killed between it and the moment when the group is known.
      tell(`add none ${marker}`);
      return {
        file: '/bin/sh',
        args: ['-c', LAUNCHER, 'sh', ...argv],
        env: { ...env, [MARKER_NAME]: marker },
        contain(pid) {
          tell(`add ${pid} ${marker}`);
          return groupTree(pid, marker, () => tell(`remove ${marker}`));
        },
      };
    },
  };
}

function groupTree(root: number, marker: string, onEnd: () => void): ContainedTree {
  // What is older than the command cannot be its child; most of the machine's processes are.
  const startedAt = findProcess(root)?.startedAt ?? 0;
  const members = async (): Promise<number[]> => {
    const processes = (await listProcesses()).filter((entry) => entry.startedAt >= startedAt);
    const found = processes.filter(
      ({ pid, group, session }) =>
        group === root || session === root || hasInEnvironment(pid, `${MARKER_NAME}=${marker}`),
    );
    const roots = new Set([root, ...found.map(({ pid }) => pid)]);
    return [...found.map(({ pid }) => pid), ...descendantsOf(roots, processes)];
  };
  const signalAll = async (signal: NodeJS.Signals): Promise<number> => {
    const pids = await members();
    for (const pid of pids) signalProcess(pid, signal);
    return pids.length;
  };
  return {
    async terminate() {
      await signalAll('SIGTERM');
    },
    async kill() {
      await signalAll('SIGKILL');
    },
    async sweep() {
      if ((await signalAll('SIGTERM')) > 0 && !(await isEmptyWithin(GRACE_MS, members))) {
        // Killed again and again, because a process may fork while the list is made.
        await isEmptyWithin(GRACE_MS, () => members().then((pids) => pids.map(killed)));
      }
      onEnd();
    },
  };
}

function killed(pid: number): number {
  signalProcess(pid, 'SIGKILL');
  return pid;
}

async function isEmptyWithin(limitMs: number, list: () => Promise<number[]>): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    if ((await list()).length === 0) return true;
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
}

function startWatchdog(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCHDOG], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Its own session: a Ctrl-C in the terminal must not reach it before us.
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  // The pipe must end with this process, not keep it alive; it is a socket, whatever its type says.
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}
