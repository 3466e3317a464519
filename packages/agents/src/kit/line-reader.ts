/**
 * Cuts a byte stream into lines; without a separator, the whole stream is one line. A line over the limit is dropped as
 * it arrives and reported as `too-long`.
 */
export class LineReader {
  readonly #onLine: (line: Buffer | 'too-long') => void;
  readonly #limit: number;
  readonly #separator: string | undefined;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onLine: (line: Buffer | 'too-long') => void, limit: number, separator?: string) {
    this.#onLine = onLine;
    this.#limit = limit;
    this.#separator = separator;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = this.#endIn(rest); end !== -1; end = this.#endIn(rest)) {
      this.#append(rest.subarray(0, end));
      this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    this.#append(rest);
  }

  #endIn(chunk: Buffer): number {
    return this.#separator === undefined ? -1 : chunk.indexOf(this.#separator);
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
