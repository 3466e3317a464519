import { createParser } from 'eventsource-parser';
import { RequestError } from './request-error.ts';

/** In characters. No model sends such an event; a hostile server would fill the memory with it. */
export const MAX_EVENT_LENGTH = 16 * 1024 * 1024;

/** One event of a stream is longer than the gateway reads. The call ends there. */
export class EventTooLarge extends RequestError {
  constructor(limit = MAX_EVENT_LENGTH) {
    super(502, `The provider sent an event of more than ${limit} characters.`);
  }
}

/**
 * Cuts a byte stream of server-sent events into its events. Written by hand because an agent gets the text of each event as the provider sent it, comments, line ends and an
 * unfinished last event included, and eventsource-parser only reports the fields of finished events.
 * @param limit characters of one event; a longer one is an `EventTooLarge`.
 */
export function splitEvents(limit = MAX_EVENT_LENGTH) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const eventEnd = /\n\r?\n|\r\r/g;
  // The beginning of an event in which no end was found, in pieces that are joined once.
  let pieces: string[] = [];
  let length = 0;
  // Its last characters: with those of the next chunk they may be an end.
  let last = '';

  function take(piece: string): string {
    const whole = pieces.length === 0 ? piece : pieces.join('') + piece;
    pieces = [];
    length = 0;
    return whole;
  }

  return {
    /** The events that end in `chunk`, each with the blank line that ends it. */
    push(chunk: string | Uint8Array): string[] {
      const text = last + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
      const events: string[] = [];
      let start = 0;
      while (eventEnd.test(text)) {
        events.push(take(text.slice(start, eventEnd.lastIndex)));
        start = eventEnd.lastIndex;
      }
      const kept = Math.max(start, text.length - 2);
      last = text.slice(kept);
      if (kept > start) pieces.push(text.slice(start, kept));
      length += kept - start;
      if (length > limit) throw new EventTooLarge(limit);
      return events;
    },
    /** What is left: the beginning of an event, or nothing. */
    rest: (): string => pieces.join('') + last + decoder.decode(),
  };
}

/** The data of an event: its `data:` lines, also when its blank line is missing. */
export function eventData(event: string): string {
  let data = '';
  createParser({ onEvent: (message) => (data = message.data) }).feed(`${event}\n\n`);
  return data;
}

/** The event with other data, which must be one line. */
export function withEventData(event: string, data: string): string {
  const lines = event.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const kept = lines.filter((line) => line !== '' && !line.startsWith('data:'));
  return `${[...kept, `data: ${data}`].join('\n')}\n\n`;
}
