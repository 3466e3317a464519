import type { StreamEvent, StreamEventOf } from './stream-event.ts';

/** The agent's reply: all assistant messages of the stream, in order, without those of sub-agents. */
export function replyText(events: readonly StreamEvent[]): string {
  return events
    .filter((event) => event.type === 'message' && event.role === 'assistant' && !event.parentCallId)
    .map((event) => (event as StreamEventOf<'message'>).text)
    .join('\n');
}
