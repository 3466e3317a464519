import { git } from '../workspace/git.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type Verification, type VerifyInput, verify } from './verify.ts';

/**
 * What stands for the work of an agent: a patch for `git apply`, its bytes as a latin1 string; `null`: no work at all; or a
 * function that works in a workspace. No process of it may be left when it resolves.
 */
export type Work = string | null | ((place: Workplace) => Promise<void>);

export type Workplace = Pick<VerifyInput, 'workspaces' | 'sandboxes' | 'snapshot'> & { workspace: Workspace };

/** Verifies a tree in which something else stands for the work of an agent. */
export async function judgeWork(
  work: Work,
  input: Omit<VerifyInput, 'changes' | 'agentCompleted'>,
): Promise<Verification> {
  const { workspaces, sandboxes, snapshot } = input;
  await using workspace = await workspaces.create(snapshot);
  if (typeof work === 'function') await work({ workspaces, sandboxes, snapshot, workspace });
  else if (work !== null && work !== '') await applyPatch(workspace.path, work);
  return await verify({ ...input, changes: await workspace.changes(), agentCompleted: true });
}

/** `patch`: bytes as a latin1 string. */
export async function applyPatch(tree: string, patch: string): Promise<void> {
  const input = Buffer.from(patch, 'latin1');
  await git(['apply', '--binary', '--whitespace=nowarn', '-'], { cwd: tree, input });
}
