import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { folderState } from '../workspace/folder-state.ts';
import type { Snapshot, Workspace, Workspaces } from '../workspace/workspace.ts';
import type { Outcome } from './decide-outcome.ts';

/** An agent that leaves less than this has not filled a disk. In bytes. */
const FILLING = 256 * 1024 * 1024;

/**
 * The outcome of a case in which Whetstone could not go on because of what the agent left; `undefined`: it could not for another
 * reason. Else an agent that is about to fail could turn its case into missing data.
 */
export async function blameAgent(
  error: unknown,
  { workspace, workspaces, snapshot, isDone }: Scene,
): Promise<Outcome | undefined> {
  const evidence = messageOf(error);
  const isKnown = error instanceof WhetstoneError;
  if (isKnown && error.code === 'changes-too-large') return { status: 'failed', class: 'limit', evidence };
  // What a task sets up is not the agent's.
  if (workspace.disk()?.wasFull && !(isKnown && error.class === 'task')) {
    return {
      status: 'failed',
      class: 'limit',
      evidence: `the agent filled the disk of its case: ${evidence}`,
    };
  }
  if (isDiskFull(error)) {
    const { bytes } = await folderState([workspace.path]).catch(() => ({ bytes: 0 }));
    if (bytes < FILLING) return undefined;
    const left = `${Math.round(bytes / 1024 / 1024)} MiB in the workspace of the agent`;
    return { status: 'failed', class: 'limit', evidence: `${evidence} (${left})` };
  }
  if (!isDone || (isKnown && (error.class === 'task' || error.class === 'sandbox'))) return undefined;
  if (!(await isUsable(workspaces, snapshot))) return undefined;
  return {
    status: 'failed',
    class: 'policy',
    evidence: `what the agent left cannot be read (${evidence}); an untouched workspace can`,
  };
}

type Scene = {
  workspace: Workspace;
  workspaces: Workspaces;
  snapshot: Snapshot;
  /** The agent has ended, and with it all its processes. */
  isDone: boolean;
};

const isDiskFull = (error: unknown): boolean =>
  (error instanceof WhetstoneError && error.code === 'disk-full') || codeOf(error) === 'ENOSPC';

/** Whether the same work succeeds on a tree that no agent had. */
async function isUsable(workspaces: Workspaces, snapshot: Snapshot): Promise<boolean> {
  try {
    await using untouched = await workspaces.create(snapshot);
    await untouched.changes();
    return true;
  } catch {
    return false;
  }
}
