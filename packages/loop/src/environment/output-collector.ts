/**
 * Collects the bytes of one stream in bounded memory: the first half of `limit` and the last half. What lies between is
 * counted and dropped.
 */
export class OutputCollector {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #totalBytes = 0;

  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2);
    this.#tailLimit = Math.floor(limit / 2);
  }

  push(chunk: Uint8Array): void {
    this.#totalBytes += chunk.length;
    const room = this.#headLimit - this.#headBytes;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
    }
    if (chunk.length > room) this.#pushTail(chunk.subarray(Math.max(room, 0)));
  }

  #pushTail(chunk: Uint8Array): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    // Compacting at twice the limit keeps the cost of a byte constant and frees the chunks it came in.
    if (this.#tailBytes < 2 * this.#tailLimit + 65_536) return;
    const kept = lastBytes(Buffer.concat(this.#tail), this.#tailLimit);
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** What was collected, as long as nothing was dropped. */
  bytes(): Uint8Array {
    return Buffer.concat([...this.#head, ...this.#tail]);
  }

  /** The bytes that `text()` leaves out. */
  get droppedBytes(): number {
    return Math.max(0, this.#totalBytes - this.#headLimit - this.#tailLimit);
  }

  /** The collected output as UTF-8; a cut never leaves half a character, and a line says what is missing. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = lastBytes(Buffer.concat(this.#tail), this.#tailLimit);
    if (this.droppedBytes === 0) return decode(Buffer.concat([head, tail]));
    const wholeHead = head.subarray(0, wholeCharacters(head));
    const wholeTail = tail.subarray(continuationBytes(tail));
    const dropped = this.#totalBytes - wholeHead.length - wholeTail.length;
    return `${decode(wholeHead)}\n[... ${dropped} bytes of output were not kept ...]\n${decode(wholeTail)}`;
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** A copy of the last `count` bytes, so that the buffer it came from can go. */
function lastBytes(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.length <= count ? bytes : bytes.slice(bytes.length - count);
}

/** How many leading bytes of `bytes` end on a character boundary. */
function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length;
  while (start > 0 && bytes.length - start < 3 && isContinuation(bytes[start - 1])) start -= 1;
  const lead = start > 0 ? (bytes[start - 1] ?? 0) : 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.length - start + 1 < length ? start - 1 : bytes.length;
}

function continuationBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
