/** How much of a stream's beginning, and how much of its end, is kept in memory. */
const PART_BYTES = 1024 * 1024;
/** What of a stream is kept at most. */
export const KEPT_BYTES = 2 * PART_BYTES;

/** Keeps the first and the last MiB of a byte stream of any length; memory never exceeds the two. */
export class CapturedOutput {
  #head = Buffer.alloc(0);
  #headLength = 0;
  #tail = Buffer.alloc(0);
  #tailBytes = 0;
  readonly #partBytes: number;

  constructor(partBytes: number = PART_BYTES) {
    this.#partBytes = partBytes;
  }

  append(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.#partBytes - this.#headLength);
    if (forHead > 0) this.#appendHead(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#appendTail(chunk.subarray(forHead));
  }

  /** UTF-8, wrong bytes as U+FFFD; where bytes are missing, a line says how many. Cuts fall between code points. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#orderedTail();
    const missing = this.#tailBytes - tail.length;
    if (missing === 0) return Buffer.concat([head, tail]).toString('utf8');
    const headEnd = lastCodePointBoundary(head);
    const tailStart = firstCodePointBoundary(tail);
    const dropped = missing + (head.length - headEnd) + tailStart;
    return `${head.toString('utf8', 0, headEnd)}\n[${dropped} bytes left out]\n${tail.toString('utf8', tailStart)}`;
  }

  #appendHead(bytes: Buffer): void {
    const needed = this.#headLength + bytes.length;
    if (needed > this.#head.length) {
      const grown = Buffer.alloc(Math.min(this.#partBytes, Math.max(needed, this.#head.length * 2, 4096)));
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    bytes.copy(this.#head, this.#headLength);
    this.#headLength = needed;
  }

  /** The tail is a ring: byte n of what follows the head stands at n modulo the ring's size. */
  #appendTail(bytes: Buffer): void {
    if (this.#tail.length === 0) this.#tail = Buffer.alloc(this.#partBytes);
    const size = this.#partBytes;
    const skipped = Math.max(0, bytes.length - size);
    let position = (this.#tailBytes + skipped) % size;
    for (let offset = skipped; offset < bytes.length; ) {
      const copied = bytes.copy(
        this.#tail,
        position,
        offset,
        Math.min(bytes.length, offset + size - position),
      );
      offset += copied;
      position = (position + copied) % size;
    }
    this.#tailBytes += bytes.length;
  }

  #orderedTail(): Buffer {
    if (this.#tailBytes <= this.#partBytes) return this.#tail.subarray(0, this.#tailBytes);
    const start = this.#tailBytes % this.#partBytes;
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
