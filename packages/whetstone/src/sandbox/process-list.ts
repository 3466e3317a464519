import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export type ProcessEntry = { pid: number; parent: number; group: number; session: number };

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

/** Whether a process was started with this text in its environment. Linux only; elsewhere nothing is known. */
export async function hasInEnvironment(pid: number, text: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`)).includes(text);
  } catch {
    return false;
  }
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

async function listFromProc(): Promise<ProcessEntry[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/stat`, 'latin1').then(parseStat, () => undefined)),
  );
  return entries.filter((entry) => entry !== undefined);
}

/** `pid (name) state parent group session …`; the name may hold spaces and parentheses. */
function parseStat(stat: string): ProcessEntry | undefined {
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
  };
}

async function listFromPs(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (!pid || !state || state.startsWith('Z')) return [];
    // `ps` has no portable session id: the group stands in for it.
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) }];
  });
}
