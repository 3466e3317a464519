import { readFileSync } from 'node:fs';

/** What a process used from its start to its end. */
export type ProcessUse = {
  /** User and system time of the process itself, all its threads (RUSAGE_SELF). */
  cpuSeconds: number;
  /** Of its children and theirs, as far as they have ended and been waited for. Ticks of 10 ms. */
  childrenCpuSeconds: number;
  /** The most memory that was resident (VmHWM). */
  peakBytes: number;
};

/** USER_HZ, which Linux shows to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Reads `/proc/<pid>/stat`: cutime and cstime, fields 16 and 17 of proc(5). */
export function cpuSecondsOfChildren(stat: string): number {
  // The second field, a name in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** Resident memory of a process now, and the most it has been, bytes. */
export function memoryOf(pid: number | 'self'): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
