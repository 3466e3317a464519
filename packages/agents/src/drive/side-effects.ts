import { access, constants } from 'node:fs/promises';
import type { StreamEvent } from '@whetstone/events';
import { readTreeState, type TreeChange, treeChanges } from '@whetstone/sandbox';
import type { Turn } from '../agent.ts';

/** How many changes the error of a turn lists. The `file.changed` events have them all. */
const LISTED = 20;

/**
 * Runs a turn that must not change its workspace: if any byte, mode or link below `folder` changed, the turn has failed,
 * however the agent ended it.
 */
export async function withoutSideEffects(
  folder: string,
  run: () => Promise<Turn>,
  emit: (event: StreamEvent) => void,
): Promise<Turn> {
  // Of a folder that cannot be read, two states would always be equal.
  await access(folder, constants.R_OK | constants.X_OK);
  const before = await readTreeState(folder);
  const turn = await run();
  const changes = treeChanges(before, await readTreeState(folder));
  if (changes.length === 0) return turn;
  for (const { path, change } of changes) emit({ type: 'file.changed', source: 'host', path, change });
  const message = `The workspace changed, although side effects are not allowed: ${listed(changes)}`;
  emit({ type: 'error', message, source: 'host' });
  const exit = turn.exit ?? { ended: 'exit' };
  return { ...turn, status: 'failed', exit: { ...exit, message: exit.message ?? message } };
}

function listed(changes: readonly TreeChange[]): string {
  const shown = changes.slice(0, LISTED).map(({ path, change }) => `${path} (${change})`);
  const more = changes.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
