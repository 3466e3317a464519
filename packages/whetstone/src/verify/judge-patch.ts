import { git } from '../workspace/git.ts';
import { type Verification, type VerifyInput, verify } from './verify.ts';

/**
 * Verifies a tree in which a patch stands for the work of an agent. `patch`: for `git apply`, bytes as a latin1 string; `null`:
 * no work at all.
 */
export async function judgePatch(
  patch: string | null,
  input: Omit<VerifyInput, 'changes' | 'agentCompleted'>,
): Promise<Verification> {
  await using worked = await input.workspaces.create(input.snapshot);
  if (patch !== null && patch !== '') {
    await git(['apply', '--binary', '--whitespace=nowarn', '-'], {
      cwd: worked.path,
      input: Buffer.from(patch, 'latin1'),
    });
  }
  return await verify({ ...input, changes: await worked.changes(), agentCompleted: true });
}
