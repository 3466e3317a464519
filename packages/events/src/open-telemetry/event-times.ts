import type { StreamEvent } from '../stream-event.ts';

export type EventTimes = ReturnType<typeof timesOf>;

/**
 * When each event happened, in milliseconds since 1970, and how many events have no time of their own (`assumed`). An event without `at` gets the time of the last event before it that has one. Events before
 * the first time get that time. When no event has a time, all get `fallback`.
 */
export function timesOf(events: readonly StreamEvent[], fallback: string | undefined) {
  const first = events.find((event) => event.at !== undefined)?.at ?? fallback;
  let latest = first === undefined ? 0 : Date.parse(first);
  let assumed = 0;
  const times = new Map<StreamEvent, number>();
  for (const event of events) {
    if (event.at === undefined) assumed += 1;
    else latest = Date.parse(event.at);
    times.set(event, latest);
  }
  return { of: (event: StreamEvent): number => times.get(event) ?? latest, assumed };
}
