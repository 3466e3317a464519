import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { StreamEvent } from '@whetstone/events';
import type { Mask } from '@whetstone/sandbox';
import { maskValues } from './mask-values.ts';

/** `events.jsonl`: the events of one attempt, written as they come, in order, with secrets masked. */
export interface EventLog extends Disposable {
  append(event: StreamEvent): void;
}

/** A log that cannot be written throws only when it is closed, so that the log does not stop an attempt half-way. */
export function openEventLog(file: string, mask: Mask): EventLog {
  const descriptor = openSync(file, 'a');
  let pending: string[] = [];
  let failure: { error: unknown } | undefined;
  // One write for all events of one turn of the event loop.
  const flush = (): void => {
    const lines = pending.join('');
    pending = [];
    if (failure || lines === '') return;
    try {
      writeFileSync(descriptor, lines);
    } catch (error) {
      failure = { error };
    }
  };
  return {
    append(event) {
      const { type, at = new Date().toISOString(), ...rest } = event;
      if (pending.length === 0) setImmediate(flush);
      pending.push(`${JSON.stringify({ type, at, ...maskValues(rest, mask) })}\n`);
    },
    [Symbol.dispose]() {
      flush();
      closeSync(descriptor);
      if (failure) throw failure.error;
    },
  };
}
