import { open } from 'node:fs/promises';
import type { StreamEvent } from '@whetstone/events';

/** `events.jsonl`: the stream of one attempt, written as it happens and in order. */
export interface EventLog extends AsyncDisposable {
  append(event: StreamEvent): void;
}

export async function openEventLog(file: string): Promise<EventLog> {
  const handle = await open(file, 'a');
  let pending: string[] = [];
  let writing: Promise<void> | undefined;
  const flush = async () => {
    while (pending.length > 0) {
      const lines = pending;
      pending = [];
      await handle.appendFile(lines.join(''));
    }
    writing = undefined;
  };
  return {
    append(event) {
      const { type, ...rest } = event;
      pending.push(`${JSON.stringify({ type, at: event.at ?? new Date().toISOString(), ...rest })}\n`);
      writing ??= flush();
    },
    async [Symbol.asyncDispose]() {
      await writing;
      await handle.close();
    },
  };
}
