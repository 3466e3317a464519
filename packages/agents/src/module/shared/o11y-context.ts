import type { StreamEvent } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';

/** The name is the adapter reference's, and what an `EVAL.ts` reads. */
const FOLDER = '__niceeval__';
const FILE = `${FOLDER}/results.json`;

/**
 * Writes what the agent did to `__niceeval__/results.json` in the workspace, as `{ "o11y": … }`, for assertions in an
 * `EVAL.ts`. Call it after the agent's last step: the file is no work of the agent's, so `runValidation` takes it away
 * again, and else the host does when the turn is over.
 */
export async function injectO11yContext(sandbox: Sandbox, events: readonly StreamEvent[]): Promise<void> {
  // Loaded on use: what knows all events is heavy, and few adapters come here.
  const { deriveObservability } = await import('./observability.ts');
  await sandbox.writeFiles({ [FILE]: `${JSON.stringify({ o11y: deriveObservability(events) }, null, 2)}\n` });
}

/** Takes the file away, if it is there. */
export async function removeO11yContext(sandbox: Sandbox): Promise<void> {
  const found = await sandbox.readBytes(FILE).catch(() => undefined);
  if (found === undefined) return;
  const script = `rm -f ${FILE} && { rmdir ${FOLDER} 2>/dev/null || :; }`;
  await sandbox.runShell(script, { cwd: sandbox.workdir, timeoutMs: 10_000 });
}
