/** Cuts a byte stream of server-sent events into its events. */
export type EventSplitter = {
  /** The events that end in `chunk`, each with the blank line that ends it. */
  push(chunk: string | Uint8Array): string[];
  /** What is left: the beginning of an event, or nothing. */
  rest(): string;
};

/** @param limit characters of one event; a longer one comes in pieces, which are no events. */
export function splitEvents(limit = 64 * 1024 * 1024): EventSplitter {
  const decoder = new TextDecoder();
  let pending = '';
  // Where the search goes on: what was searched before holds no end.
  let searched = 0;
  return {
    push(chunk) {
      pending += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
      const events: string[] = [];
      const eventEnd = /\r\n\r\n|\n\n|\r\r/g;
      eventEnd.lastIndex = Math.max(0, searched - 3);
      let start = 0;
      for (let match = eventEnd.exec(pending); match; match = eventEnd.exec(pending)) {
        events.push(pending.slice(start, eventEnd.lastIndex));
        start = eventEnd.lastIndex;
      }
      pending = pending.slice(start);
      if (pending.length > limit) {
        events.push(pending);
        pending = '';
      }
      searched = pending.length;
      return events;
    },
    rest: () => pending + decoder.decode(),
  };
}

/** The data of an event: its `data:` lines. */
export function eventData(event: string): string {
  const lines = event.split(/\r\n|\n|\r/);
  return lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line.startsWith('data: ') ? 6 : 5))
    .join('\n');
}

/** The event with other data, which must be one line. */
export function withEventData(event: string, data: string): string {
  const kept = event.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${[...kept, `data: ${data}`].join('\n')}\n\n`;
}
