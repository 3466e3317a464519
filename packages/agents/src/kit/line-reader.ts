/** Of one line, bytes. */
export const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
/** Of a list over one line, and of a whole stream. */
export const STREAM_LIMIT_BYTES = 64 * 1024 * 1024;

const OPENING_BRACKET = '['.charCodeAt(0);

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
  #isList = false;

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
    if (this.#length === 0) this.#isList = part[0] === OPENING_BRACKET;
    this.#length += part.length;
    if (this.#isTooLong()) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
    // The objects of many small chunks would need more memory than their bytes.
    if (this.#parts.length > 1_000) this.#parts = [Buffer.concat(this.#parts)];
  }

  /** A list is the whole output. */
  #isTooLong(): boolean {
    return this.#length > (this.#isList ? STREAM_LIMIT_BYTES : this.#limit);
  }

  #finishLine(): void {
    const line = this.#isTooLong() ? 'too-long' : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#onLine(line);
  }
}
