import type { StreamEvent } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';

/** The name that the adapter reference gives it, and that an `EVAL.ts` reads. */
const FOLDER = '__niceeval__';
const FILE = `${FOLDER}/results.json`;

/**
 * Writes what the agent did to `__niceeval__/results.json` in the workspace, as `{ "o11y": … }`, for assertions in an
 * `EVAL.ts`. Call it after the last step of the agent. The file is not part of the agent's work: `runValidation` removes
 * it, or the host does when the turn is over.
 */
export async function injectO11yContext(sandbox: Sandbox, events: readonly StreamEvent[]): Promise<void> {
  // Loaded on use: it knows all events and takes long to load, and few adapters need it.
  const { deriveObservability } = await import('./observability.ts');
  await sandbox.writeFiles({ [FILE]: `${JSON.stringify({ o11y: deriveObservability(events) }, null, 2)}\n` });
}

/** Removes the file if it exists. */
export async function removeO11yContext(sandbox: Sandbox): Promise<void> {
  const found = await sandbox.readBytes(FILE).catch(() => undefined);
  if (found === undefined) return;
  const script = `rm -f ${FILE} && { rmdir ${FOLDER} 2>/dev/null || :; }`;
  await sandbox.runShell(script, { cwd: sandbox.workdir, timeoutMs: 10_000 });
}
