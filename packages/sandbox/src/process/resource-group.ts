import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { ControlGroups, GroupSetting } from './launcher-interface.ts';

/*
 * Limits on memory, processes and CPU time by the kernel's control groups. In their first version each controller has a tree
 * of its own; in their second one tree has all that the groups above pass on. A machine can have both.
 */

/** `memoryBytes` includes files in memory. `cpus`: how many CPUs of time per second. */
export type Limits = { memoryBytes?: number; processes?: number; cpus?: number };

/** What the processes of a group have used together; `null`: not measured here. */
export type Usage = {
  cpuSeconds: number | null;
  /** Includes files in memory. */
  peakMemoryBytes: number | null;
  /** The limits that they ran into. */
  exceeded: ('memory' | 'processes')[];
};

export type ResourceGroup = {
  /** The folders of the group, whose `cgroup.procs` a process enters. */
  folders: readonly string[];
  usage(): Usage;
  /** When its processes have ended. */
  remove(): Promise<void>;
};

const CONTROLLERS = ['memory', 'pids', 'cpu', 'cpuacct'] as const;
type Controller = (typeof CONTROLLERS)[number];
/** Where a group can be made for a controller. The second version always counts CPU time. */
type GroupFolder = { version: 1 | 2; folder: string };
export type Places = Partial<Record<Controller, GroupFolder>>;

/** The names of groups say which process of which PID namespace made them, for `removeStale`. */
const PREFIX = 'whetstone-case-';
const ownPrefix = (): string => `${PREFIX}${process.pid}-${namespaceNumber()}-`;

/**
 * Where groups below this process's own can be, from `/proc/self/cgroup` and `/proc/self/mountinfo`. `passedOn`: what the
 * groups in a folder of the second version get; `undefined` where there is no such folder.
 */
export function placesOf(
  own: string,
  mounts: string,
  passedOn: (folder: string) => readonly string[] | undefined,
): Places {
  const mounted = mounts.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = before.split(' ');
    const [type = '', , options = ''] = after.split(' ');
    return type.startsWith('cgroup') ? [{ root, at, type, options: options.split(',') }] : [];
  });
  const groups = own.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? []);
  const folderIn = ({ root, at }: { root: string; at: string }, path: string): string | undefined => {
    const below = relative(root, path);
    return below.startsWith('..') ? undefined : join(at, below);
  };
  const places: Places = {};
  for (const controller of CONTROLLERS) {
    const first = mounted.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    const path = groups.find(([, names = '']) => names.split(',').includes(controller))?.[2];
    const folder = first && path !== undefined ? folderIn(first, path) : undefined;
    if (folder !== undefined) places[controller] = { version: 1, folder };
  }
  const second = mounted.find(({ type }) => type === 'cgroup2');
  const path = groups.find(([, names]) => names === '')?.[2];
  if (!second || path === undefined) return places;
  // A group that has processes passes nothing on, so the new one is beside this process's own or further up.
  const wanted = (['memory', 'pids', 'cpu'] as const).filter((controller) => !places[controller]);
  for (let at = folderIn(second, path); at?.startsWith(second.at); at = dirname(at)) {
    const passed = passedOn(at) ?? [];
    if (!passed.some((one) => one === 'memory' || one === 'pids')) continue;
    for (const controller of wanted)
      if (passed.includes(controller)) places[controller] = { version: 2, folder: at };
    break;
  }
  // One group, because a process is in only one of this tree.
  const folder = [places.memory, places.pids].find((place) => place?.version === 2)?.folder;
  if (folder !== undefined && !places.cpuacct) places.cpuacct = { version: 2, folder };
  return places;
}

/**
 * Makes a group with these limits, as far as this machine enforces them: see `enforceable`. `undefined`: it has no groups.
 * `groups`: whoever makes them, and removes them if this process is killed.
 */
export function makeGroup(
  { memoryBytes, processes, cpus }: Limits,
  groups: ControlGroups,
): ResourceGroup | undefined {
  const places = usablePlaces();
  const name = ownPrefix() + crypto.randomUUID().slice(0, 8);
  const at = (controller: Controller): string | undefined => {
    const place = places[controller];
    // In its first version, this one only limits. Making it and entering it takes as long as for one that counts.
    return place && (controller !== 'cpu' || cpus !== undefined) ? join(place.folder, name) : undefined;
  };
  const folders = [...new Set(CONTROLLERS.flatMap((controller) => at(controller) ?? []))];
  if (folders.length === 0) return undefined;
  const settings: GroupSetting[] = [];
  const put = (controller: Controller, files: Record<1 | 2, [string, string]>, isOptional = false): void => {
    const place = places[controller];
    if (!place) return;
    const [file, value] = files[place.version];
    settings.push({ file: join(place.folder, name, file), value, isOptional });
  };
  if (memoryBytes !== undefined) {
    const bytes = String(memoryBytes);
    put('memory', { 1: ['memory.limit_in_bytes', bytes], 2: ['memory.max', bytes] });
    // Some kernels do not count swap.
    put('memory', { 1: ['memory.memsw.limit_in_bytes', bytes], 2: ['memory.swap.max', '0'] }, true);
  }
  if (processes !== undefined) {
    put('pids', { 1: ['pids.max', String(processes)], 2: ['pids.max', String(processes)] });
  }
  if (cpus !== undefined) {
    const quota = String(Math.max(1000, Math.round(cpus * 100_000)));
    put('cpu', { 1: ['cpu.cfs_quota_us', quota], 2: ['cpu.max', `${quota} 100000`] });
  }
  groups.make(folders, settings);
  return {
    folders,
    usage: () =>
      usageFrom((controller, files) => {
        const place = places[controller];
        const text = place && textOf(join(place.folder, name, files[place.version]));
        return place && text !== undefined ? { version: place.version, text } : undefined;
      }),
    async remove() {
      const isDone = await groups.remove(folders).then(
        () => true,
        () => false,
      );
      if (isDone) return;
      // The kernel counts a process until its parent has seen its end.
      for (let tries = 0; tries < 100 && !removed(folders); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

/** The files of a group that say what was used, in either version of control groups. */
export const USAGE_FILES = {
  cpu: { controller: 'cpuacct', files: { 1: 'cpuacct.usage', 2: 'cpu.stat' } },
  peak: { controller: 'memory', files: { 1: 'memory.max_usage_in_bytes', 2: 'memory.peak' } },
  killed: { controller: 'memory', files: { 1: 'memory.oom_control', 2: 'memory.events' } },
  refused: { controller: 'pids', files: { 1: 'pids.events', 2: 'pids.events' } },
} as const;

type UsageFile = { version: 1 | 2; text: string };

/** What a group has used. `read`: one of its files; `undefined`: it has none. */
export function usageFrom(
  read: (controller: Controller, files: Readonly<Record<1 | 2, string>>) => UsageFile | undefined,
): Usage {
  const number = (
    { controller, files }: (typeof USAGE_FILES)[keyof typeof USAGE_FILES],
    patterns: Record<1 | 2, RegExp>,
  ): { version: 1 | 2; count: number } | undefined => {
    const file = read(controller, files);
    const found = file && patterns[file.version].exec(file.text)?.[1];
    return file && found !== undefined ? { version: file.version, count: Number(found) } : undefined;
  };
  const both = (pattern: RegExp): Record<1 | 2, RegExp> => ({ 1: pattern, 2: pattern });
  const cpu = number(USAGE_FILES.cpu, { 1: /^(\d+)/, 2: /^usage_usec (\d+)/m });
  const killed = number(USAGE_FILES.killed, both(/^oom_kill (\d+)/m))?.count ?? 0;
  const refused = number(USAGE_FILES.refused, both(/^max (\d+)/m))?.count ?? 0;
  return {
    cpuSeconds: cpu ? cpu.count / (cpu.version === 2 ? 1e6 : 1e9) : null,
    peakMemoryBytes: number(USAGE_FILES.peak, both(/^(\d+)/))?.count ?? null,
    exceeded: [...(killed > 0 ? ['memory' as const] : []), ...(refused > 0 ? ['processes' as const] : [])],
  };
}

/** Of these limits, the ones that this machine can enforce. */
export function enforceable(limits: Limits): Limits {
  const places = usablePlaces();
  return {
    ...(places.memory && limits.memoryBytes !== undefined && { memoryBytes: limits.memoryBytes }),
    ...(places.pids && limits.processes !== undefined && { processes: limits.processes }),
    ...(places.cpu && limits.cpus !== undefined && { cpus: limits.cpus }),
  };
}

let usable: Places | undefined;

/** The places in which this process really makes groups. Removes groups there that a killed process has left. */
function usablePlaces(): Places {
  if (usable) return usable;
  usable = {};
  if (process.platform !== 'linux') return usable;
  const found = placesOf(textOf('/proc/self/cgroup') ?? '', textOf('/proc/self/mountinfo') ?? '', (folder) =>
    textOf(join(folder, 'cgroup.subtree_control'))?.trim().split(' '),
  );
  for (const controller of CONTROLLERS) {
    const place = found[controller];
    if (place && canMakeGroups(place.folder)) usable[controller] = place;
  }
  return usable;
}

function canMakeGroups(folder: string): boolean {
  const tried = join(folder, `${ownPrefix()}probe`);
  try {
    mkdirSync(tried);
    rmdirSync(tried);
    removeStale(folder);
    return true;
  } catch {
    return false;
  }
}

/** A group with processes in it is not removed by the kernel, so only the process that made it has to be gone. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid, namespace] = new RegExp(`^${PREFIX}(\\d+)-(\\d+)-\\w+$`).exec(name) ?? [];
    if (namespace !== namespaceNumber()) continue;
    if (textOf(`/proc/${pid}/stat`) === undefined) removed([join(folder, name)]);
  }
}

function removed(folders: readonly string[]): boolean {
  const left = folders.filter((folder) => {
    try {
      rmdirSync(folder);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  });
  return left.length === 0;
}

function namespaceNumber(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
