import { mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { giveTree } from '../files/inherit-owner.ts';
import { removeTree } from '../files/remove-tree.ts';
import type { SandboxProvider } from '../sandbox.ts';

export const doesNotStart = (sandbox: string, reason: string, hint: string): WhetstoneError =>
  new WhetstoneError('sandbox-unavailable', `The sandbox \`${sandbox}\` does not start here: ${reason}`, {
    hint,
  });

/**
 * Starts a command in a sandbox as cases do. Some systems refuse what it needs, and only trying shows it.
 * @throws WhetstoneError `sandbox-unavailable` with the hint
 */
export async function assertWorks(provider: SandboxProvider, scratch: string, hint: string): Promise<void> {
  const refuse = (reason: string): WhetstoneError => doesNotStart(provider.name, reason, hint);
  const folder = mkdtempSync(join(scratch, 'p-'));
  const workdir = join(folder, 'try');
  await mkdir(workdir);
  await giveTree(folder, provider.owner);
  const tried = provider.start({ workdir, env: {} }).then(async (sandbox) => {
    await using open = sandbox;
    return await open.runShell('exit 7', { timeoutMs: 10_000 });
  });
  const result = await tried
    .catch((error: unknown) => {
      // It has said the same itself.
      throw error instanceof WhetstoneError && error.code === 'sandbox-unavailable'
        ? error
        : refuse(messageOf(error));
    })
    .finally(() => removeTree(folder));
  if (result.exitCode !== 7) throw refuse(result.stderr.trim() || `exit code ${result.exitCode}`);
}
