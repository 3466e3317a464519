import { closeSync, openSync, writeSync } from 'node:fs';

const LIMIT = 64 * 1024 * 1024;

/**
 * A file that takes output as it comes, up to a bound; what comes after is dropped. It writes at once, so that nothing
 * waits in memory for a slow disk, and an error (a full disk, say) ends the file, not the command.
 */
export class OutputFile {
  readonly #descriptor: number;
  #room: number;
  #open = true;

  /** Creates the file or empties it; throws where that fails. */
  constructor(path: string, limit = LIMIT) {
    this.#descriptor = openSync(path, 'w', 0o600);
    this.#room = limit;
  }

  write(chunk: Uint8Array): void {
    const part = chunk.subarray(0, this.#room);
    this.#room -= part.length;
    if (!this.#open || part.length === 0) return;
    try {
      for (let written = 0; written < part.length; )
        written += writeSync(this.#descriptor, part, written, part.length - written);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#descriptor);
  }
}
