import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A process that cannot be taken for another one with its id. */
type Known = { pid: string; started: string };

/** What a process and its descendants are made of, seen while they run. */
export type Seen = {
  pid: number;
  processes: Known[];
  namespaces: ReadonlySet<string>;
  /** The loop devices that it had mounted, with the file of each, whose name is random. */
  loops: ReadonlyMap<string, string>;
};

const NAMESPACES = ['net', 'mnt', 'pid', 'user', 'ipc', 'uts'];

export function seenOf(pid: number): Seen {
  const parents = new Map(allProcesses().map((one) => [one, statOf(one)?.[1] ?? '']));
  const family = new Set([String(pid)]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const [one, parent] of parents) if (family.has(parent)) family.add(one);
  }
  const own = new Set(NAMESPACES.map((name) => namespaceOf('self', name)));
  const namespaces = [...family].flatMap((one) => NAMESPACES.map((name) => namespaceOf(one, name)));
  return {
    pid,
    processes: [...family].map((one) => ({ pid: one, started: startOf(one) })),
    loops: loopsOf(pid),
    namespaces: new Set(namespaces.filter((one) => one !== '' && !own.has(one))),
  };
}

/** What is still there of a process that was killed, in words. `folder`: below which it worked. */
function leftOf({ pid, processes, namespaces, loops }: Seen, folder: string): string[] {
  const alive = processes.filter(
    (one) => one.started !== '' && startOf(one.pid) === one.started && !isZombie(one.pid),
  );
  const known = new Set(alive.map((one) => one.pid));
  const inside = new Set(
    allProcesses().filter((one) => NAMESPACES.some((name) => namespaces.has(namespaceOf(one, name)))),
  );
  // The kernel gives the number of a namespace that has ended to the next one, so others can have it. They have a parent that
  // is outside, and what a run leaves does not.
  const held = [...inside].filter((one) => inside.has(oldestOf(one)) || known.has(oldestOf(one)));
  for (const one of held) known.add(one);
  const strays = allProcesses().filter((one) => !known.has(one) && worksIn(one, folder));
  return [
    ...alive.map((one) => `process ${one.pid} (${commandOf(one.pid)})`),
    ...strays.map((one) => `process ${one} (${commandOf(one)}) that works in the folder`),
    ...held.map((one) => `namespace of process ${one}`),
    ...groupsOf(pid).map((name) => `control group ${name}`),
    ...mountsBelow(folder).map((place) => `mount ${place}`),
    ...[...loops].filter(([name, file]) => fileOf(name) === file).map(([name]) => `loop device ${name}`),
  ];
}

/** What a killed run has to be gone after. A removed control group takes the kernel a moment. */
const GONE_MS = 30_000;

/** What is left of a run that has ended after a while, or nothing as soon as nothing is. */
export async function untilGone(seen: Seen, folder: string): Promise<string[]> {
  const deadline = performance.now() + GONE_MS;
  for (;;) {
    const left = leftOf(seen, folder);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Control groups that a process made, in all trees. */
function groupsOf(pid: number): string[] {
  const mounts = textOf('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => / - cgroup2? /.test(line));
  const folders = new Set(mounts.map((line) => line.split(' ')[4] ?? ''));
  return [...folders]
    .flatMap((folder) => groupsBelow(folder, 3))
    .filter((name) => name.includes(`whetstone-case-${pid}-`));
}

function groupsBelow(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  const inner = namesIn(folder, true).map((name) => join(folder, name));
  return [...inner, ...inner.flatMap((one) => groupsBelow(one, depth - 1))];
}

/** Its ancestor that the first process of the machine has, or itself. */
function oldestOf(pid: string): string {
  const parent = statOf(pid)?.[1];
  return parent === undefined || Number(parent) <= 1 ? pid : oldestOf(parent);
}

/** Whether the environment or the working directory of a process names the folder: it was started by a run there. */
function worksIn(pid: string, folder: string): boolean {
  if (isZombie(pid)) return false;
  if (textOf(`/proc/${pid}/environ`).includes(`${folder}/`)) return true;
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

const mountsBelow = (folder: string): string[] =>
  textOf('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => {
      const place = line.split(' ')[4] ?? '';
      return place.startsWith(`${folder}/`) ? [place] : [];
    });

/** Loop devices that a process has mounted, and not all of this machine. */
function loopsOf(pid: number): Map<string, string> {
  const mountedBy = (one: string) =>
    [...textOf(`/proc/${one}/mountinfo`).matchAll(/ \/dev\/(loop\d+) /g)].map(([, name = '']) => name);
  const ofMachine = new Set(mountedBy('self'));
  const own = mountedBy(String(pid)).filter((name) => !ofMachine.has(name));
  const files = own.map((name) => [name, fileOf(name)] as const);
  // One that was freed meanwhile has no file.
  return new Map(files.filter(([, file]) => file !== ''));
}

const fileOf = (loop: string): string => textOf(`/sys/block/${loop}/loop/backing_file`).trim();

const allProcesses = (): string[] => namesIn('/proc').filter((name) => /^\d+$/.test(name));

/** The fields after the name, the state first. */
const statOf = (pid: string): string[] | undefined => {
  const text = textOf(`/proc/${pid}/stat`);
  return text === '' ? undefined : text.slice(text.lastIndexOf(') ') + 2).split(' ');
};
const startOf = (pid: string): string => statOf(pid)?.[19] ?? '';
const isZombie = (pid: string): boolean => statOf(pid)?.[0] === 'Z';
const commandOf = (pid: string): string => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 80);

function namespaceOf(pid: string, name: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/${name}`);
  } catch {
    return '';
  }
}

function namesIn(folder: string, isFolder = false): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => !isFolder || entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
