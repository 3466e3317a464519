const NEWLINE = 0x0a;

/** Cuts a byte stream into lines. A line over the limit is dropped as it arrives and reported as `too-long`. */
export class LineReader {
  readonly #onLine: (line: Buffer | 'too-long') => void;
  readonly #limit: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onLine: (line: Buffer | 'too-long') => void, limit: number) {
    this.#onLine = onLine;
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  /** The last line may have no newline. */
  end(): void {
    if (this.#length > 0) this.#finishLine();
  }

  #append(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
    // The objects of many small chunks would need more memory than their bytes.
    if (this.#parts.length > 1_000) this.#parts = [Buffer.concat(this.#parts)];
  }

  #finishLine(): void {
    const line = this.#length > this.#limit ? 'too-long' : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#onLine(line);
  }
}
