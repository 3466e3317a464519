import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { RequestError } from './wire/request-error.ts';
import { zstdParams } from './zstd-params.ts';

export type BodyLimits = {
  /** Applies to the compressed and to the decompressed body. */
  maxBytes: number;
  /** How long the body may take to arrive. */
  maxMs: number;
};

/**
 * The body of a request, decompressed (gzip, deflate, br, zstd).
 * @throws RequestError 413 over the limit, 415 for an unknown encoding, 400 when it cannot be decompressed, 408 when it
 * does not arrive in time
 */
export async function readBody(request: IncomingMessage, { maxBytes, maxMs }: BodyLimits): Promise<Buffer> {
  const late = Promise.withResolvers<never>();
  const deadline = setTimeout(() => late.reject(tooSlow()), maxMs);
  try {
    const body = await Promise.race([readBytes(request, maxBytes), late.promise]);
    return await decompress(body, request.headers['content-encoding'] ?? 'identity', maxBytes);
  } finally {
    clearTimeout(deadline);
  }
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // Reads the rest and drops it, because a client that is cut off while it sends would not see the answer.
    if (size <= limit) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.once('end', () => (size > limit ? reject(tooLarge(limit)) : resolve(Buffer.concat(chunks))));
  request.once('error', reject);
  return promise;
}

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', (body, options) => promisify(zstdDecompress)(body, { ...options, params: zstdParams })],
]);

async function decompress(body: Buffer, contentEncoding: string, limit: number): Promise<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === 'identity') return body;
  const decode = decoders.get(encoding);
  if (!decode) {
    throw new RequestError(
      415,
      `Content-Encoding "${encoding}" is not supported. Supported: ${[...decoders.keys()].join(', ')}.`,
    );
  }
  try {
    return await decode(body, { maxOutputLength: limit });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limit);
    throw new RequestError(400, `The request body is not valid ${encoding}.`, { cause: error });
  }
}

/** The rest of the body may still arrive, so the connection ends with the answer. */
const tooSlow = (): RequestError =>
  new RequestError(408, 'The request took too long to arrive.', { headers: { connection: 'close' } });

const tooLarge = (limit: number): RequestError =>
  new RequestError(413, `The request body is larger than ${limit} bytes.`);
