import type { StreamEvent } from '@whetstone/agents';
import { matchJson } from './json-match.ts';
import { isMatcher, type Match, matchIf } from './matcher.ts';
import type { EventPattern, JsonPattern } from './patterns.ts';
import type { MaybeLater } from './when-known.ts';

/** Whether an event fits its type, a part of its fields, or a matcher. */
export function matchEvent(event: StreamEvent, pattern: EventPattern): MaybeLater<Match> {
  if (typeof pattern === 'string') return matchIf(event.type === pattern, `the event is ${event.type}`);
  if (isMatcher(pattern)) return pattern.match(event as never);
  return matchJson(event, pattern as JsonPattern, 'the event');
}
