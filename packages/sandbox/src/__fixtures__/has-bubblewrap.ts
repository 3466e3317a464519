import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandboxProvider } from '../start-sandbox-provider.ts';

/** Whether the sandbox `bubblewrap` starts on this machine. */
export const hasBubblewrap: boolean = await tryIt();

async function tryIt(): Promise<boolean> {
  const scratch = mkdtempSync(join(tmpdir(), 'bubblewrap-'));
  try {
    await startSandboxProvider('bubblewrap', { scratch });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
