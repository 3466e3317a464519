import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { cgroupMembers, killCgroup, removeCgroup } from './cgroup.ts';
import {
  descendantsOf,
  findProcess,
  hasInEnvironment,
  listProcesses,
  type ProcessEntry,
  signalProcess,
} from './process-list.ts';

/** A started process with everything that it started, or all processes that carry a mark. */
export type ProcessTree = {
  /**
   * The process that was started, which leads a process group and a session. Absent for a mark only. Also leave it out
   * some time after the process has ended, when its number may belong to another process.
   */
  leader?: number;
  /**
   * `NAME=value` that every process of the tree inherits. It finds children that left the group and their parent
   * (Linux).
   */
  mark: string;
  /** The folder of the cgroup that they are in, which finds them whatever they do. Absent where there is none. */
  cgroup?: string | undefined;
  /** When the leader was started; what is older is not a member. Default: not known. */
  startedAt?: number;
};

/** How long processes have between TERM and KILL, in milliseconds. */
export const GRACE_MS = 2_000;
/** A process that outlives KILL for so long hangs in the kernel. */
const KILL_LIMIT_MS = 10_000;
const POLL_MS = 25;

/** The tree of a process that has just been started, and the folder of its cgroup if it was started in one. */
export function treeOf(leader: number, mark: string, cgroup?: string): ProcessTree {
  return { leader, mark, cgroup, startedAt: findProcess(leader)?.startedAt ?? 0 };
}

/**
 * Ends a tree: TERM to every process, up to two seconds, then KILL until none is left. Without a cgroup a process is not
 * found if it has left its session *and* its parent *and* cleared its environment.
 */
export async function endTree(tree: ProcessTree): Promise<void> {
  if (process.platform === 'win32') return await endWindowsTree(tree);
  await endMembers(tree);
  if (tree.cgroup !== undefined) removeCgroup(tree.cgroup);
}

async function endMembers(tree: ProcessTree): Promise<void> {
  const asked = await signalAll(tree, 'SIGTERM');
  if (asked.length === 0) return;
  // All processes of the machine are listed only when none of those is left.
  const remaining = async () => asked.filter(isRunning).length || (await membersOf(tree)).length;
  if (await isEmptyWithin(GRACE_MS, remaining)) return;
  // Again and again, because a process may fork while the list is made.
  await isEmptyWithin(KILL_LIMIT_MS, () => signalTree(tree, 'SIGKILL'));
}

/** `false` on systems other than Linux, where only a list of all processes tells. */
function isRunning({ pid, startedAt }: ProcessEntry): boolean {
  return findProcess(pid)?.startedAt === startedAt;
}

/** Sends TERM to the processes of a tree that do not have its mark in their environment; to all processes if each has it. */
export async function terminateUnmarked(tree: ProcessTree): Promise<void> {
  const members = await membersOf(tree);
  const unmarked = members.filter(({ pid }) => !hasInEnvironment(pid, tree.mark));
  for (const { pid } of unmarked.length > 0 ? unmarked : members) signalProcess(pid, 'SIGTERM');
}

/** Sends a signal to every process of a tree, and reports how many there are. */
export async function signalTree(tree: ProcessTree, signal: NodeJS.Signals): Promise<number> {
  return (await signalAll(tree, signal)).length;
}

async function signalAll(tree: ProcessTree, signal: NodeJS.Signals): Promise<ProcessEntry[]> {
  const members = await membersOf(tree);
  for (const { pid } of members) signalProcess(pid, signal);
  if (signal === 'SIGKILL' && tree.cgroup !== undefined) killCgroup(tree.cgroup);
  // In one step, so that no fork escapes. A signal that a process may handle must reach it only once.
  const hasGroup = members.some(({ group }) => group === tree.leader);
  if (signal === 'SIGKILL' && tree.leader !== undefined && hasGroup) signalProcess(-tree.leader, signal);
  return members;
}

async function membersOf({ leader, mark, cgroup, startedAt = 0 }: ProcessTree) {
  const grouped = new Set(cgroup === undefined ? [] : cgroupMembers(cgroup));
  // What is older than the command cannot be its child; most of the machine's processes are.
  const processes = (await listProcesses()).filter((entry) => entry.startedAt >= startedAt);
  const found = new Set(
    processes
      .filter(
        ({ pid, group, session }) =>
          group === leader || session === leader || grouped.has(pid) || hasInEnvironment(pid, mark),
      )
      .map(({ pid }) => pid),
  );
  const roots = leader === undefined ? found : [leader, ...found];
  for (const pid of descendantsOf(roots, processes)) found.add(pid);
  return processes.filter(({ pid }) => found.has(pid));
}

async function isEmptyWithin(limitMs: number, count: () => Promise<number>): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while ((await count()) > 0) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

async function endWindowsTree({ leader }: ProcessTree): Promise<void> {
  if (leader === undefined) return;
  await new Promise<void>((resolve) => {
    execFile('taskkill', ['/pid', String(leader), '/T', '/F'], () => resolve());
  });
}
