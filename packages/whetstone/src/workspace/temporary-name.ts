import { readlinkSync } from 'node:fs';
import { isAlive } from '@whetstone/sandbox/process';

/**
 * How the names of our temporary folders begin: with the process that made them, and the PID namespace in which that number
 * means it. Containers can share a temporary folder.
 */
export const temporaryPrefix = (): string => `whetstone-${process.pid}-${pidNamespace()}-`;

/** Whether a folder was left by a process that has ended. `false` where that cannot be seen from here. */
export function isLeftBehind(name: string): boolean {
  const [, pid, namespace] = /^whetstone-(\d+)-(\d+)-\w+$/.exec(name) ?? [];
  return namespace === pidNamespace() && !isAlive(Number(pid));
}

/** The number of the namespace; 0 where there are none. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
