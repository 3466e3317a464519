import { rmSync } from 'node:fs';
import { createWorkspaces } from '../create-workspaces.ts';
import { makeRepo, makeTempDir } from './test-repo.ts';

/** The strategies that every behaviour is tested over, and whether this machine has them. */
export const strategies = [
  { strategy: 'mount' as const, missing: !(await mountsWork()) },
  { strategy: 'copy' as const, missing: false },
];

async function mountsWork(): Promise<boolean> {
  const repo = makeRepo({});
  const scratch = makeTempDir();
  try {
    await using workspaces = await createWorkspaces({ repo, scratch, strategy: 'mount' });
    return workspaces.strategy === 'mount';
  } catch {
    return false;
  } finally {
    rmSync(repo, { recursive: true });
    rmSync(scratch, { recursive: true });
  }
}
