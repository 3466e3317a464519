import type { StreamEvent } from '@whetstone/agents';
import { shorten, show } from '../expect/show.ts';
import type { IndexedEvent } from './assertion.ts';

const SHOWN_EVENTS = 8;

/** The events with these indices, one line each, for a reader without the event log. */
export function excerpt(events: readonly IndexedEvent[], indices: readonly number[]): string {
  const wanted = new Set(indices.slice(0, SHOWN_EVENTS));
  const lines = events
    .filter(({ index }) => wanted.has(index))
    .map(({ index, event }) => `#${index} ${describe(event)}`);
  const more = indices.length - SHOWN_EVENTS;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function describe(event: StreamEvent): string {
  switch (event.type) {
    case 'message':
      return `${event.role}: ${shorten(event.text)}`;
    case 'thinking':
      return `thinking: ${shorten(event.text)}`;
    case 'error':
      return `error: ${shorten(event.message)}`;
    case 'action.called':
      return `${event.name} ${show(event.input)}`;
    case 'action.result':
      return `→ ${event.status}${event.output === undefined ? '' : ` ${show(event.output)}`}`;
    default: {
      const { type, at: _at, turn: _turn, source: _source, parentCallId: _parent, ...fields } = event;
      return `${type} ${show(fields)}`;
    }
  }
}
