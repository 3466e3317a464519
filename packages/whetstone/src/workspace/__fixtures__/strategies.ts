import { rmSync } from 'node:fs';
import { createWorkspaces } from '../create-workspaces.ts';
import { makeRepo, makeTempDir } from './test-repo.ts';

/** The strategies that every behaviour is tested over, and whether this machine has them. Few temporary folders can clone. */
export const strategies = [
  { strategy: 'mount' as const, missing: !(await works('mount')) },
  ...((await works('reflink')) ? [{ strategy: 'reflink' as const, missing: false }] : []),
  { strategy: 'copy' as const, missing: false },
];

async function works(strategy: 'mount' | 'reflink'): Promise<boolean> {
  const repo = makeRepo({});
  const scratch = makeTempDir();
  try {
    await using workspaces = await createWorkspaces({ repo, scratch, strategy });
    return workspaces.strategy === strategy;
  } catch {
    return false;
  } finally {
    rmSync(repo, { recursive: true });
    rmSync(scratch, { recursive: true });
  }
}
