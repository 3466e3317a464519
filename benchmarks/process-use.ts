import { readFileSync } from 'node:fs';

/** What a process used from its start to its end. */
export type ProcessUse = {
  /** User and system time of the process itself, all its threads (RUSAGE_SELF). */
  cpuSeconds: number;
  /** The same of its descendants that have ended and were waited for, in ticks of 10 ms. */
  childrenCpuSeconds: number;
  /** The most memory that was resident (VmHWM). */
  peakBytes: number;
};

/** USER_HZ, which Linux shows to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process with all its threads so far: utime and stime, fields 14 and 15 of proc(5). */
export const cpuSecondsOf = (pid: number): number => cpuSeconds(pid, 14);

/** The same of this process's children, as far as they have ended: cutime and cstime, fields 16 and 17. */
export const cpuSecondsOfChildren = (): number => cpuSeconds('self', 16);

function cpuSeconds(pid: number | 'self', field: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
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
