import { readFileSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { type StreamEvent, streamEventSchema } from '@whetstone/events';
import type { CaseLayout } from '../record/layout.ts';

/** All events of a stored case, in order. */
export const eventsOf = ({ events }: CaseLayout): StreamEvent[] =>
  textOf(events)
    .split('\n')
    .filter((line) => line !== '')
    .map((line): StreamEvent => JSON.parse(line));

/**
 * The events of a stored case that fit their schema, and how many lines do not. For readers of runs that somebody else may have
 * written, or that a crash cut off.
 */
export function readableEvents({ events: file }: CaseLayout): { events: StreamEvent[]; unreadable: number } {
  const lines = textOf(file)
    .split('\n')
    .filter((line) => line !== '');
  const events = lines.flatMap((line) => parsed(line) ?? []);
  return { events, unreadable: lines.length - events.length };
}

function parsed(line: string): StreamEvent | undefined {
  try {
    return streamEventSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // not JSON, or nested too deeply
  }
}

/** The text of a file of a stored case; empty where the case has no such file. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
