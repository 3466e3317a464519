import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { CaseFile } from './api.ts';

/** Which part of a long file is kept. */
export type Keep = 'head' | 'tail' | 'both';

type Excerpt = Omit<CaseFile, 'name'>;

/**
 * Reads at most `limit` bytes of a regular file as UTF-8, without cutting a code point. Resolves with `undefined` for
 * anything else: it does not follow a symbolic link at the end of the path and does not wait on a pipe.
 */
export async function readExcerpt(path: string, keep: Keep, limit: number): Promise<Excerpt | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) return undefined;
  const { size } = stats;
  if (size <= limit) {
    return { bytes: size, head: decodeHead(await readRange(file, 0, size)), omitted_bytes: 0, tail: '' };
  }
  const headBytes = { head: limit, tail: 0, both: Math.floor(limit / 2) }[keep];
  const tailBytes = limit - headBytes;
  return {
    bytes: size,
    head: decodeHead(await readRange(file, 0, headBytes)),
    omitted_bytes: size - limit,
    tail: decodeTail(await readRange(file, size - tailBytes, tailBytes)),
  };
}

async function readRange(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) break; // the file has become shorter meanwhile
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** With `stream`, a code point whose end is cut off is held back. */
const decodeHead = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

/** Leaves out the rest of a code point whose beginning is cut off: at most three bytes. */
function decodeTail(bytes: Buffer): string {
  const beginsCodePoint = (byte: number) => (byte & 0b1100_0000) !== 0b1000_0000;
  const start = bytes.subarray(0, 3).findIndex(beginsCodePoint);
  return new TextDecoder().decode(bytes.subarray(start === -1 ? 3 : start));
}
