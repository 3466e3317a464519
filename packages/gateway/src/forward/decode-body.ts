import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { zstdParams } from '../zstd-params.ts';

/** Providers are asked not to compress. An answer that is compressed anyway is read by its `Content-Encoding`. */
export function decodeBody(response: IncomingMessage): Readable {
  const decoder = decoders[response.headers['content-encoding']?.trim().toLowerCase() ?? '']?.();
  // When one side ends, so does the other; an error appears where the decoder is read.
  return decoder ? pipeline(response, decoder, () => {}) : response;
}

const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: zstdParams }),
};

/**
 * Reads a body of at most `limit` bytes, `undefined` for a longer one: the rest of that is not read, and its connection
 * ends.
 */
export async function readUpTo(limit: number, body: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
