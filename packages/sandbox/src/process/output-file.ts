import { closeSync, openSync, writeSync } from 'node:fs';

const DEFAULT_LIMIT = 64 * 1024 * 1024;

export type OutputFileOptions = {
  /** In bytes; what comes after it is dropped, and the last line says how much. Default 64 MiB. */
  limit?: number;
  /** Writes behind what the file holds. Default: the file is emptied. */
  append?: boolean;
};

/**
 * A file that takes output as it comes, up to a limit. It writes at once: nothing waits in memory for a slow disk, and
 * the program that prints gets no further than the file. No method throws: a full disk must end neither the program nor
 * its host. `error` has the first error, an error of opening the file included.
 */
export class OutputFile {
  #descriptor: number | undefined;
  #room: number;
  #dropped = 0;
  #error: Error | undefined;

  constructor(path: string, { limit = DEFAULT_LIMIT, append = false }: OutputFileOptions = {}) {
    this.#room = limit;
    this.#try(() => {
      this.#descriptor = openSync(path, append ? 'a' : 'w', 0o600);
    });
  }

  get error(): Error | undefined {
    return this.#error;
  }

  write(chunk: Uint8Array): void {
    const kept = chunk.subarray(0, this.#room);
    this.#room -= kept.length;
    this.#dropped += chunk.length - kept.length;
    this.#write(kept);
  }

  close(): void {
    if (this.#dropped > 0)
      this.#write(Buffer.from(`\n[${this.#dropped} more bytes were printed and left out]\n`));
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) this.#try(() => closeSync(descriptor));
  }

  #write(bytes: Uint8Array): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || this.#error) return;
    this.#try(() => {
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    });
  }

  #try(operation: () => void): void {
    try {
      operation();
    } catch (error) {
      this.#error ??= error as Error;
    }
  }
}
