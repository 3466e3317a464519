import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { cgroupFolder, removeCgroup } from './cgroup.ts';
import { signalProcess } from './process-list.ts';

/** Every mark begins with it, so that one search finds all processes that this process has started. */
const hostId = crypto.randomUUID();

/** The process groups that run now. */
const groups = new Set<number>();
/** Who may have left something running. */
const watched = new Set<string>();
let watcher: ChildProcess | undefined;

/**
 * A value that nobody else uses, for a variable that every process of a tree inherits. It says nothing about what the
 * process is for.
 */
export function newMark(): string {
  return `${hostId}.${crypto.randomUUID().slice(0, 8)}`;
}

/**
 * From here to `unwatch`, everything that carries a mark of this process ends with this process, even if that is killed
 * by a signal that nobody can handle. A shell waits for the end of a pipe that only this process holds open. It also
 * finds background jobs and daemons, by their cgroup or by the mark in their environment (Linux); on other systems it
 * finds only the groups of running commands. Where there is no shell, only the exit handler below remains. `owner` is any text.
 */
export function watch(owner: string): void {
  if (process.platform === 'win32') return;
  watched.add(owner);
  watcher ??= startWatcher();
}

export function unwatch(owner: string): void {
  if (!watched.delete(owner) || watched.size > 0) return;
  const cgroup = cgroupFolder();
  if (cgroup !== undefined) removeCgroup(cgroup);
  send('quit');
  watcher?.stdin?.end();
  watcher = undefined;
}

/** Ends a running process group with this process, until `releaseGroup`. */
export function holdGroup(group: number): void {
  if (groups.size === 0) process.on('exit', killGroups);
  groups.add(group);
  send(`+ ${group}`);
}

export function releaseGroup(group: number): void {
  if (!groups.delete(group)) return;
  send(`- ${group}`);
  if (groups.size === 0) process.off('exit', killGroups);
}

/** When this process exits in order, what runs in the foreground ends before it. */
function killGroups(): void {
  if (process.platform === 'win32') return;
  for (const group of groups) signalProcess(-group, 'SIGKILL');
}

function send(line: string): void {
  if (watcher?.stdin?.writable) watcher.stdin.write(`${line}\n`);
}

/**
 * Reads `+ group` and `- group`, and exits on `quit`. At the end of its input it ends what is left as `endTree` does:
 * TERM, up to two seconds, KILL. It ignores the signals that its host may be sent together with it.
 */
const SCRIPT = `
trap '' HUP INT TERM
mark=$1
cgroup=$2
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
    *) exit ;;
  esac
done
signal_all() {
  left=
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null && left=1; done
  for file in $(grep -lsF -- "$mark" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}" 2>/dev/null && left=1
  done
  [ -d "$cgroup" ] || return
  for pid in $(find "$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null); do
    kill -s "$1" "$pid" 2>/dev/null && left=1
  done
  [ "$1" = KILL ] && [ "$left" ] && echo 1 >"$cgroup/cgroup.kill"
}
leave() {
  [ -d "$cgroup" ] && find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
  exit
}
signal_all TERM
for signal in 0 KILL; do
  for pass in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    signal_all "$signal"
    [ "$left" ] || leave
    sleep 0.1 || sleep 1
  done
done
leave
`;

function startWatcher(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `=${hostId}.`, cgroupFolder() ?? ''], {
    // It must not hold on to a folder that the host wants to remove.
    cwd: '/',
    // A session of its own: Ctrl-C in a terminal goes to the whole group of the host.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A watcher that could not start or was killed is replaced at the next command.
  const forget = () => {
    if (watcher === child) watcher = undefined;
  };
  child.on('error', forget);
  child.on('exit', forget);
  child.unref();
  // The pipe must end with this process and not keep it alive. Absent if this process has no file descriptor left.
  const stdin = child.stdin as Socket | undefined;
  stdin?.on('error', () => {});
  stdin?.unref();
  for (const group of groups) stdin?.write(`+ ${group}\n`);
  return child;
}
