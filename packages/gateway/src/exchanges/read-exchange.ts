import { pipeline, type Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { wireProtocols } from '../wire/neutral.ts';
import { zstdParams } from '../zstd-params.ts';
import type { KeptExchange } from './exchange-file.ts';

const schema: z.ZodType<KeptExchange> = z.object({
  id: z.string(),
  wire: z.enum(wireProtocols),
  is_stream: z.boolean(),
  request_omitted: z.number(),
  reply_omitted: z.number(),
  request: z.string().nullable(),
  reply: z.string().nullable(),
});

/** A file of ours unpacks to at most about this; another one may unpack to anything. */
const MOST_UNPACKED_BYTES = 4 * 2 ** 30;
const MOST_LINE_BYTES = 2 ** 28;
const LINE_END = 10;

/**
 * The bodies of one model call, from the bytes of a file that a lane wrote. The file may still be written, or have lost its end.
 * `undefined`: it has no call of that id, or that line cannot be read.
 */
export async function readExchange(bytes: Readable, id: string): Promise<KeptExchange | undefined> {
  const begin = Buffer.from(`{"id":${JSON.stringify(id)},`);
  const unpacked = pipeline(bytes, createZstdDecompress({ params: zstdParams }), () => {});
  let line: Buffer[] = [];
  let [length, total] = [0, 0];
  /** Whether the bytes read so far can be those of the wanted line. */
  let isWanted = true;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > MOST_UNPACKED_BYTES) return undefined;
      let start = 0;
      while (start < chunk.length) {
        const found = chunk.indexOf(LINE_END, start);
        const end = found < 0 ? chunk.length : found;
        if (isWanted) {
          line.push(chunk.subarray(start, end));
          length += end - start;
          isWanted = length <= MOST_LINE_BYTES && beginsWith(line, begin);
        }
        if (found >= 0) {
          if (isWanted && length >= begin.length) return parsed(Buffer.concat(line).toString());
          isWanted = true;
        }
        if (found >= 0 || !isWanted) {
          line = [];
          length = 0;
        }
        start = end + 1;
      }
    }
  } catch {
    // The end of the file is missing.
  } finally {
    unpacked.destroy();
  }
  return undefined;
}

function beginsWith(pieces: readonly Buffer[], begin: Buffer): boolean {
  const [first] = pieces;
  if (pieces.length > 1 && first && first.length >= begin.length) return true; // it was checked with its first piece
  const known = pieces.length === 1 && first ? first : Buffer.concat(pieces);
  const length = Math.min(known.length, begin.length);
  return known.compare(begin, 0, length, 0, length) === 0;
}

function parsed(line: string): KeptExchange | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
