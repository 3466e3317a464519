import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import {
  descendantsOf,
  findProcess,
  hasInEnvironment,
  listProcesses,
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
  /** When the leader was started; what is older is not a member. Default: not known. */
  startedAt?: number;
};

/** How long processes have between TERM and KILL, in milliseconds. */
export const GRACE_MS = 2_000;
/** A process that outlives KILL for so long hangs in the kernel. */
const KILL_LIMIT_MS = 10_000;
const POLL_MS = 25;

export function treeOf(leader: number, mark: string): ProcessTree {
  return { leader, mark, startedAt: findProcess(leader)?.startedAt ?? 0 };
}

/**
 * Ends a tree: TERM to every process, up to two seconds, then KILL until none is left. A process is not found if it has
 * left its session *and* its parent *and* cleared its environment.
 */
export async function endTree(tree: ProcessTree): Promise<void> {
  if (process.platform === 'win32') return await endWindowsTree(tree);
  const left = await signalTree(tree, 'SIGTERM');
  if (left === 0 || (await isEmptyWithin(GRACE_MS, async () => (await membersOf(tree)).length))) return;
  // Again and again, because a process may fork while the list is made.
  await isEmptyWithin(KILL_LIMIT_MS, () => signalTree(tree, 'SIGKILL'));
}

/** Sends a signal to every process of a tree, and reports how many there are. */
export async function signalTree(tree: ProcessTree, signal: NodeJS.Signals): Promise<number> {
  const members = await membersOf(tree);
  for (const { pid } of members) signalProcess(pid, signal);
  // In one step, so that no fork escapes. A signal that a process may handle must reach it only once.
  const hasGroup = members.some(({ group }) => group === tree.leader);
  if (signal === 'SIGKILL' && tree.leader !== undefined && hasGroup) signalProcess(-tree.leader, signal);
  return members.length;
}

async function membersOf({ leader, mark, startedAt = 0 }: ProcessTree) {
  // What is older than the command cannot be its child; most of the machine's processes are.
  const processes = (await listProcesses()).filter((entry) => entry.startedAt >= startedAt);
  const found = new Set(
    processes
      .filter(
        ({ pid, group, session }) => group === leader || session === leader || hasInEnvironment(pid, mark),
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
