import { readFileSync, readlinkSync } from 'node:fs';
import { findProcess } from '../process/process-list.ts';

/** How the names of folders in TMPDIR begin that exist for moments, such as while something is tried. */
export const BRIEF_PREFIX = 'whetstone-brief-';

/**
 * A beginning for the name of such a folder, for `mkdtemp`. It says which process of which PID namespace and which start of
 * the machine made it, so that another process knows when it was left behind.
 */
export function briefFolder(): string {
  const own = findProcess(process.pid);
  return own
    ? `${BRIEF_PREFIX}${[...surroundings(), process.pid, own.startedAt].join('.')}.`
    : `${BRIEF_PREFIX}x.`;
}

/**
 * Whether the process that made such a folder has ended. `undefined`: it cannot be known here, as of a process of another
 * machine or another PID namespace.
 */
export function isLeftBehind(name: string): boolean | undefined {
  const [boot, namespace, pid, startedAt] = name.slice(BRIEF_PREFIX.length).split('.');
  const [ownBoot, ownNamespace] = surroundings();
  if (ownBoot === '' || boot !== ownBoot || namespace !== ownNamespace) return undefined;
  return findProcess(Number(pid))?.startedAt !== Number(startedAt);
}

/** This start of the machine, and this PID namespace. Empty where the system does not say. */
function surroundings(): [boot: string, namespace: string] {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    return [boot, /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''];
  } catch {
    return ['', ''];
  }
}
