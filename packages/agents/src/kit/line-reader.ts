/** Of one line, bytes. */
export const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
/** Of a list over one line, and of a whole stream. */
export const STREAM_LIMIT_BYTES = 64 * 1024 * 1024;

const OPENING_BRACKET = '['.charCodeAt(0);

/**
 * Cuts a byte stream into lines; without a separator (one ASCII character), the whole stream is one line. A line over the
 * limit is dropped as it arrives and reported as `too-long`. A line may share its memory with its chunk.
 */
export class LineReader {
  readonly #onLine: (line: Buffer | 'too-long') => void;
  readonly #limit: number;
  /** A byte, because to find a text takes several times as long. */
  readonly #separator: number | undefined;
  #parts: Buffer[] = [];
  #length = 0;
  #isList = false;

  constructor(onLine: (line: Buffer | 'too-long') => void, limit: number, separator?: string) {
    this.#onLine = onLine;
    this.#limit = limit;
    this.#separator = separator?.charCodeAt(0);
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = this.#endIn(chunk, 0); end !== -1; end = this.#endIn(chunk, start)) {
      this.#append(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #endIn(chunk: Buffer, start: number): number {
    return this.#separator === undefined ? -1 : chunk.indexOf(this.#separator, start);
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
    // Most lines are in one chunk, and need no copy.
    const only = this.#parts.length === 1 ? this.#parts[0] : undefined;
    const line = this.#isTooLong() ? 'too-long' : (only ?? Buffer.concat(this.#parts));
    this.#parts = [];
    this.#length = 0;
    this.#onLine(line);
  }
}
