import { appendFile } from 'node:fs/promises';
import type { StreamEvent } from '@whetstone/events';
import type { Mask } from '@whetstone/sandbox';
import type { Changes } from '../workspace/workspace.ts';
import { maskValues } from './mask-values.ts';

/**
 * Adds to `events.jsonl` how the files differ after the agent, as the host sees it: an agent may not report which file is
 * new, or what its shell commands changed. Resolves with the events.
 */
export async function keepFileChanges(
  { files }: Changes,
  eventsFile: string,
  { mask }: { mask: Mask },
): Promise<StreamEvent[]> {
  const at = new Date().toISOString();
  const events = files.map(({ path, change: how, from }): StreamEvent => {
    const change = how === 'mode' ? 'modified' : how;
    const event = { type: 'file.changed' as const, at, source: 'host' as const, path, change };
    return from === undefined ? event : { ...event, from };
  });
  const lines = events.map((event) => `${JSON.stringify(maskValues(event, mask))}\n`);
  if (lines.length > 0) await appendFile(eventsFile, lines.join(''));
  return events;
}
