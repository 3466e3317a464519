import { open } from 'node:fs/promises';
import type { StreamEvent } from '@whetstone/events';
import type { Mask } from '@whetstone/sandbox';
import { maskValues } from './mask-values.ts';

/** `events.jsonl`: the events of one attempt, written as they come, in order, with secrets masked. */
export interface EventLog extends AsyncDisposable {
  append(event: StreamEvent): void;
}

/** A log that cannot be written rejects only when it is closed, so that the log does not stop an attempt half-way. */
export async function openEventLog(file: string, mask: Mask): Promise<EventLog> {
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
      const { type, at = new Date().toISOString(), ...rest } = event;
      pending.push(`${JSON.stringify({ type, at, ...maskValues(rest, mask) })}\n`);
      if (writing) return;
      writing = flush();
      writing.catch(() => undefined); // the error comes when the log is closed; until then it must not be an unhandled rejection
    },
    async [Symbol.asyncDispose]() {
      try {
        await writing;
      } finally {
        await handle.close();
      }
    },
  };
}
