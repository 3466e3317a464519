import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Which part of a file that is too long is kept. */
export type Keep = 'head' | 'tail' | 'both';

export type Excerpt = {
  bytes: number;
  head: string;
  /** Bytes left out between `head` and `tail`. */
  omittedBytes: number;
  tail: string;
};

/**
 * Reads a regular file as UTF-8, at most `limit` bytes of it; a cut keeps code points whole. Does not follow a
 * symbolic link in the last name, and does not wait on a pipe: what is not a regular file is `undefined`.
 */
export async function readExcerpt(path: string, keep: Keep, limit: number): Promise<Excerpt | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) return undefined;
  const { size } = stats;
  if (size <= limit) {
    return { bytes: size, head: decodeHead(await readRange(file, 0, size)), omittedBytes: 0, tail: '' };
  }
  const headBytes = { head: limit, tail: 0, both: Math.floor(limit / 2) }[keep];
  const tailBytes = limit - headBytes;
  return {
    bytes: size,
    head: decodeHead(await readRange(file, 0, headBytes)),
    omittedBytes: size - limit,
    tail: decodeTail(await readRange(file, size - tailBytes, tailBytes)),
  };
}

async function readRange(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) break; // it has become shorter since
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** `stream` holds back a code point whose end is cut off. */
const decodeHead = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

/** The rest of a code point whose beginning is cut off, at most three bytes, is left out. */
function decodeTail(bytes: Buffer): string {
  const beginsCodePoint = (byte: number) => (byte & 0b1100_0000) !== 0b1000_0000;
  const start = bytes.subarray(0, 3).findIndex(beginsCodePoint);
  return new TextDecoder().decode(bytes.subarray(start === -1 ? 3 : start));
}
