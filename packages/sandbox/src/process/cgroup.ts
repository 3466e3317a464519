import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';

/*
 * Groups of the kernel's second cgroup tree (Linux 5.14). A process belongs to the group of the one that started it,
 * whatever it does with its session, its parent and its environment, and a whole group is killed in one step. Not every
 * user may make groups: root may, and so may a user's own services under systemd.
 */

const NAME = `whetstone-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
let probed: { folder: string | undefined } | undefined;

/** The folder in which this process makes groups, which may not exist yet. `undefined` where it cannot make any. */
export function cgroupFolder(): string | undefined {
  probed ??= { folder: process.platform === 'linux' ? probe() : undefined };
  return probed.folder;
}

function probe(): string | undefined {
  try {
    const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const mount = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((line) => / - cgroup2 /.test(line))
      ?.split(' ');
    const [root = '', at = ''] = mount?.slice(3, 5) ?? [];
    if (own === undefined || at === '' || relative(root, own).startsWith('..')) return undefined;
    const parent = join(at, relative(root, own));
    // Whoever moves a process needs this right on the group that holds both places.
    accessSync(join(parent, 'cgroup.procs'), constants.W_OK);
    const folder = join(parent, NAME);
    mkdirSync(folder);
    try {
      accessSync(join(folder, 'cgroup.kill'), constants.W_OK);
    } finally {
      rmdirSync(folder);
    }
    return folder;
  } catch {
    return undefined;
  }
}

/**
 * A command that starts `argv` in a new group, by a shell that enters it first: a process that were moved after its start
 * could have started others by then. `undefined` where the group cannot be made, or there is no such program, which has
 * to fail as without a group.
 */
export function commandInCgroup(
  group: string,
  argv: readonly [string, ...string[]],
  { cwd, path = '' }: { cwd: string; path: string | undefined },
): [string, ...string[]] | undefined {
  const [program] = argv;
  const places = program.includes('/')
    ? [resolve(cwd, program)]
    : path.split(':').map((folder) => join(folder, program));
  if (!places.some((place) => isExecutable(place))) return undefined;
  try {
    mkdirSync(group, { recursive: true });
  } catch {
    return undefined;
  }
  return ['/bin/sh', '-c', 'echo 0 2>/dev/null >"$0/cgroup.procs"; exec "$@"', group, ...argv];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The processes of a group and of the groups in it. */
export function cgroupMembers(group: string): number[] {
  try {
    const pids = readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').map(Number);
    return [...pids.filter((pid) => pid > 0), ...innerGroups(group).flatMap(cgroupMembers)];
  } catch {
    return [];
  }
}

/** Kills every process of a group in one step: none can start another one meanwhile. */
export function killCgroup(group: string): void {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1');
  } catch {
    // It is gone, and so are its processes.
  }
}

/** Removes a group, and those in it, where no process is left. */
export function removeCgroup(group: string): void {
  try {
    for (const inner of innerGroups(group)) removeCgroup(inner);
    rmdirSync(group);
  } catch {
    // Something still runs in it. The end of its environment removes it.
  }
}

function innerGroups(group: string): string[] {
  const entries = readdirSync(group, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(group, name));
}
