import { writeSync } from 'node:fs';
import type { Printed } from './play-scene.ts';

/** Writes synchronously, so that output from before a crash is not lost. */
export function printNow(printed: Printed): void {
  const bytes = Buffer.isBuffer(printed)
    ? printed
    : Buffer.from(`${typeof printed === 'string' ? printed : JSON.stringify(printed)}\n`);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the pipe is full
    }
  }
}
