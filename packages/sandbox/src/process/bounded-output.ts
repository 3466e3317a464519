/** Bytes that are kept of an output by default. */
export const KEPT_BYTES = 2 * 1024 * 1024;

/**
 * Keeps an output of any length in bounded memory: the first half of `limit` bytes and the last half. What comes
 * between them is counted and dropped.
 */
export class BoundedOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #totalBytes = 0;

  /** `limit` is at least 2. */
  constructor(limit = KEPT_BYTES) {
    this.#headLimit = Math.ceil(limit / 2);
    this.#tailLimit = Math.floor(limit / 2);
  }

  /** Bytes as they came, before any were dropped. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  get droppedBytes(): number {
    return Math.max(0, this.#totalBytes - this.#headLimit - this.#tailLimit);
  }

  append(chunk: Uint8Array): void {
    const forHead = Math.max(0, Math.min(chunk.length, this.#headLimit - this.#totalBytes));
    if (forHead > 0) this.#appendHead(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#appendTail(chunk.subarray(forHead), this.#totalBytes + forHead);
    this.#totalBytes += chunk.length;
  }

  /** The head and the tail: all bytes, as long as none were dropped. */
  bytes(): Buffer {
    return Buffer.concat([this.#headBytes(), this.#tailBytes()]);
  }

  /**
   * The output as UTF-8, wrong bytes as U+FFFD. Where bytes are missing, a line says how many; a cut never leaves half
   * a character.
   */
  text(): string {
    if (this.droppedBytes === 0) return this.bytes().toString('utf8');
    const head = this.#headBytes();
    const tail = this.#tailBytes();
    const headEnd = lastCodePointBoundary(head);
    const tailStart = firstCodePointBoundary(tail);
    const missing = this.droppedBytes + (head.length - headEnd) + tailStart;
    return `${head.toString('utf8', 0, headEnd)}\n[${missing} bytes left out]\n${tail.toString('utf8', tailStart)}`;
  }

  #appendHead(bytes: Uint8Array): void {
    const needed = this.#totalBytes + bytes.length;
    if (needed > this.#head.length) {
      const grown = Buffer.alloc(Math.min(this.#headLimit, Math.max(needed, this.#head.length * 2, 4096)));
      this.#head.copy(grown, 0, 0, this.#totalBytes);
      this.#head = grown;
    }
    this.#head.set(bytes, this.#totalBytes);
  }

  /**
   * The tail is a ring: the byte at `offset` of the output stands at its distance from the head, modulo the ring's
   * size.
   */
  #appendTail(bytes: Uint8Array, offset: number): void {
    const size = this.#tailLimit;
    if (this.#tail.length === 0) this.#tail = Buffer.alloc(size);
    const last = bytes.subarray(Math.max(0, bytes.length - size));
    const position = (offset + bytes.length - last.length - this.#headLimit) % size;
    const untilEnd = last.subarray(0, size - position);
    this.#tail.set(untilEnd, position);
    this.#tail.set(last.subarray(untilEnd.length), 0);
  }

  #headBytes(): Buffer {
    return this.#head.subarray(0, Math.min(this.#totalBytes, this.#headLimit));
  }

  #tailBytes(): Buffer {
    const count = Math.max(0, this.#totalBytes - this.#headLimit);
    if (count <= this.#tailLimit) return this.#tail.subarray(0, count);
    const start = count % this.#tailLimit;
    return Buffer.concat([this.#tail.subarray(start), this.#tail.subarray(0, start)]);
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the last whole code point ends: at most three bytes before the end. */
function lastCodePointBoundary(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole code point starts: at most three bytes in. */
function firstCodePointBoundary(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return start;
}
