import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export type ProcessEntry = {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** When it started, in ticks since the machine did; 0 where that is not known. */
  startedAt: number;
};

/** Every process that this user can see and that has not ended (zombies are left out). */
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

/** One process; `undefined` when it has ended, or where only `ps` could tell. */
export function findProcess(pid: number): ProcessEntry | undefined {
  const stat = readProc(`${pid}/stat`);
  return stat && parseStat(stat.toString('latin1'));
}

/** Whether a process was started with this text in its environment. Linux only; elsewhere nothing is known. */
export function hasInEnvironment(pid: number, text: string): boolean {
  return readProc(`${pid}/environ`)?.includes(text) ?? false;
}

/** Sends a signal; a process or group (negative) that is gone already is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Synchronous, because a file of `/proc` costs a tenth of what a turn through the thread pool does. */
function listFromProc(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => findProcess(Number(pid))).filter((entry) => entry !== undefined);
}

function readProc(name: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${name}`);
  } catch {
    return undefined;
  }
}

/** `pid (name) state parent group session …`; the name may hold spaces and parentheses. */
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
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (!pid || !state || state.startsWith('Z')) return [];
    // `ps` has no portable session id: the group stands in for it.
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        startedAt: 0,
      },
    ];
  });
}
