import { appendFileSync } from 'node:fs';
import type { StreamEvent } from '@whetstone/events';
import type { Mask } from '@whetstone/sandbox';
import type { Changes } from '../workspace/workspace.ts';
import { maskValues } from './mask-values.ts';

/**
 * Adds to `events.jsonl` how the files differ after the agent, as the host sees it: an agent may not report which file is
 * new, or what its shell commands changed. Returns the events.
 */
export function keepFileChanges(
  { files }: Changes,
  eventsFile: string,
  { mask }: { mask: Mask },
): StreamEvent[] {
  const at = new Date().toISOString();
  const events = files.map(({ path, change: how, from }): StreamEvent => {
    const change = how === 'mode' ? 'modified' : how;
    const event = { type: 'file.changed' as const, at, source: 'host' as const, path, change };
    return from === undefined ? event : { ...event, from };
  });
  const lines = events.map((event) => `${JSON.stringify(maskValues(event, mask))}\n`);
  // A few lines, for which three trips to another thread take longer.
  if (lines.length > 0) appendFileSync(eventsFile, lines.join(''));
  return events;
}
