import { readFileSync } from 'node:fs';

/** What a process used from its start to its end. */
export type ProcessUse = {
  /** User and system time of the process itself, all its threads (RUSAGE_SELF). */
  cpuSeconds: number;
  /** The most memory that was resident (VmHWM). */
  peakBytes: number;
};

/** USER_HZ, which Linux shows to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process with all its threads so far: utime and stime, fields 14 and 15 of proc(5). */
export const cpuSecondsOf = (pid: number): number => secondsOf(statOf(pid), 14);

/**
 * The same of this process's children: of those that have ended (cutime and cstime, fields 16 and 17), and of those that
 * run, with their own children that have ended. A process that starts the commands of all sandboxes is one of these.
 */
export function cpuSecondsOfChildren(): number {
  const running = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const ofRunning = running.map((pid) => {
    const stat = statOf(Number(pid));
    return secondsOf(stat, 14) + secondsOf(stat, 16);
  });
  return ofRunning.reduce((sum, seconds) => sum + seconds, secondsOf(statOf('self'), 16));
}

const statOf = (pid: number | 'self'): string => readFileSync(`/proc/${pid}/stat`, 'utf8');

/** The sum of two fields of `/proc/PID/stat`, counted from 1, that are times. */
export function secondsOf(stat: string, field: number): number {
  // The second field, a name in parentheses, may hold spaces. The third is the first of the rest.
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(rest[field - 3]) + Number(rest[field - 2])) / TICKS_PER_SECOND;
}

/** Resident memory of a process in bytes: now, and at its peak. */
export function memoryOf(pid: number | 'self'): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** The oldest process that `pid` started and that still runs. */
export function firstChildOf(pid: number): number {
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10);
}
