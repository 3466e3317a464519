import type { StreamEvent } from '@whetstone/agents';
import { matchJson } from './json-match.ts';
import { far, isMatcher, type Match, matched } from './matcher.ts';
import type { EventPattern, JsonPattern } from './patterns.ts';
import type { MaybeLater } from './when-known.ts';

/** Whether an event fits its type, a part of its fields, or a matcher. */
export function matchEvent(event: StreamEvent, pattern: EventPattern): MaybeLater<Match> {
  if (typeof pattern === 'string')
    return event.type === pattern ? matched(`the event is ${event.type}`) : far(`the event is ${event.type}`);
  if (isMatcher(pattern)) return pattern.match(event as never);
  const { type } = pattern as { type?: unknown };
  if (typeof type === 'string' && type !== event.type) return far(`the event is ${event.type}`);
  return matchJson(event, pattern as JsonPattern, 'the event');
}
