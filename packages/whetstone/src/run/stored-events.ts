import { readFileSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import type { CaseLayout } from '../record/layout.ts';

/** All events of a stored case, in order. */
export const eventsOf = ({ events }: CaseLayout): StreamEvent[] =>
  textOf(events)
    .split('\n')
    .filter((line) => line !== '')
    .map((line): StreamEvent => JSON.parse(line));

/** The text of a file of a stored case; empty where the case has no such file. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
