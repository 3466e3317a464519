import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { promisify } from 'node:util';

export type ProcessEntry = {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** When it started, in clock ticks since the machine booted; 0 if this is not known. */
  startedAt: number;
};

/** Every process that this user can see and that has not ended. Zombies are left out. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? listFromProc() : listFromPs();
}

/** The processes that `roots` started, directly or not; `roots` themselves are not among them. */
export function descendantsOf(roots: Iterable<number>, processes: readonly ProcessEntry[]): number[] {
  const children = Map.groupBy(processes, (entry) => entry.parent);
  const seen = new Set(roots);
  const found: number[] = [];
  const waiting = [...seen];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      found.push(child.pid);
      waiting.push(child.pid);
    }
  }
  return found;
}

/** One process; `undefined` if it has ended, and on systems other than Linux. */
export function findProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid);
  return stat === undefined ? undefined : parseStat(stat);
}

/** Whether a process was started with this `NAME=value` in its environment. Known on Linux only. */
export function hasInEnvironment(pid: number, variable: string): boolean {
  const environment = readEnvironment(pid);
  if (!environment?.includes(variable)) return false;
  return environment.toString('latin1').split('\0').includes(variable);
}

/** Whether a process with this id runs, whoever owns it. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Sends a signal to a process or, with a negative number, to a group. One that has ended is not an error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Synchronous, because reading a file of `/proc` costs a tenth of a trip through the thread pool. */
function listFromProc(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => findProcess(Number(pid))).filter((entry) => entry !== undefined);
}

/** One read has all of it: some 50 numbers and a name of at most 64 characters. */
const statBuffer = Buffer.allocUnsafe(4096);

/**
 * To read a file whole also asks for its size and for what comes after its end, which together take twice as long, for
 * each process of the machine.
 */
function readStat(pid: number): string | undefined {
  try {
    const file = openSync(`/proc/${pid}/stat`, 'r');
    try {
      return statBuffer.toString('latin1', 0, readSync(file, statBuffer, 0, statBuffer.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

let environmentBuffer = Buffer.allocUnsafe(64 * 1024);

/** Valid until the next call. To read a file of unknown size whole, Node takes 64 KiB of new memory for each read. */
function readEnvironment(pid: number): Buffer | undefined {
  try {
    const file = openSync(`/proc/${pid}/environ`, 'r');
    try {
      for (let length = 0; ; ) {
        const count = readSync(file, environmentBuffer, length, environmentBuffer.length - length, length);
        if (count === 0) return environmentBuffer.subarray(0, length);
        length += count;
        if (length === environmentBuffer.length)
          environmentBuffer = Buffer.concat([environmentBuffer], 2 * length);
      }
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** `pid (name) state parent group session …`; the name may contain spaces and parentheses. */
function parseStat(stat: string): ProcessEntry | undefined {
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(rest[15]),
  };
}

async function listFromPs(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    const [pid = 0, parent = 0, group = 0] = columns.map(Number);
    if (columns.length < 4 || columns[3]?.startsWith('Z')) return [];
    // `ps` has no portable column for the session: the group stands in for it.
    return [{ pid, parent, group, session: group, startedAt: 0 }];
  });
}
