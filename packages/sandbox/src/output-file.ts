import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** Puts a copy of an output stream at the end of a file, cut at a limit; its last line then says how much is missing. */
export class OutputFile {
  readonly #stream: WriteStream;
  readonly #limit: number;
  #written = 0;
  #dropped = 0;
  #error: Error | undefined;

  constructor(path: string, limit: number) {
    this.#stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.#limit = limit;
    // A full disk must neither crash us nor stall the program that prints: it is reported by `close`.
    this.#stream.on('error', (error) => {
      this.#error ??= error;
    });
  }

  /** Whether the writer should wait for `onDrain` before it goes on. */
  write(bytes: Buffer): 'go-on' | 'wait' {
    const room = Math.max(0, this.#limit - this.#written);
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#dropped += bytes.length - kept.length;
    if (kept.length === 0 || this.#error) return 'go-on';
    this.#written += kept.length;
    return this.#stream.write(kept) ? 'go-on' : 'wait';
  }

  /** Calls back once, when there is room again or the file is beyond help. */
  onDrain(callback: () => void): void {
    const once = (): void => {
      this.#stream.off('drain', once).off('close', once);
      callback();
    };
    if (this.#stream.destroyed) callback();
    else this.#stream.on('drain', once).on('close', once);
  }

  /** Writes what is left. Rejects with the first error that any write met. */
  async close(): Promise<void> {
    if (this.#dropped > 0 && !this.#error) {
      this.#stream.write(`\n[${this.#dropped} more bytes were printed and left out]\n`);
    }
    this.#stream.end();
    await finished(this.#stream).catch((error: Error) => {
      this.#error ??= error;
    });
    if (this.#error) throw this.#error;
  }
}
