import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { messageOf } from '@whetstone/errors';
import { GatewayError } from '../gateway-error.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import { bodyTexts, type MaskStream } from './body-text.ts';
import { joinDeltas } from './join-deltas.ts';

export type ExchangeOptions = {
  /** The file to write, with the first exchange. Its folder must exist; what was in the file is replaced. */
  file: string;
  /** Opens what keeps secrets out of one body, whatever its pieces are. */
  mask?: () => MaskStream;
};

/** The bodies of one model call. */
export type Exchange = {
  /** Of the call's ledger line. */
  id: string;
  wire: WireProtocol;
  /** Decompressed. */
  request: Uint8Array;
  /** What was sent to the client, faults included; `undefined`: nothing was. */
  reply: { chunks: readonly (string | Uint8Array)[]; omitted: number; isStream: boolean } | undefined;
};

/** One line of the file. */
export type KeptExchange = {
  id: string;
  wire: WireProtocol;
  /** Whether the reply is a stream of events. */
  is_stream: boolean;
  /** Bytes at the end of a body that were left out. A body that was left out as a whole is `null`. */
  request_omitted: number;
  reply_omitted: number;
  request: string | null;
  /** As it was sent to the client, with streamed texts in one piece. `null` with 0 omitted bytes: nothing was sent. */
  reply: string | null;
};

/** `size`: of both bodies. `request` is absent where neither body is kept. */
type Waiting = Omit<Exchange, 'request'> & {
  request: Iterable<Buffer> | undefined;
  requestBytes: number;
  size: number;
};

/** Of one body. No model reads or writes more. */
export const MOST_BODY_BYTES = 16 * 1024 * 1024;
/** Of all bodies, before they are compressed: the conversation of some thousand calls. */
const MOST_FILE_BYTES = 2 ** 30;
/** What may wait to be written. */
const MOST_WAITING_BYTES = 128 * 1024 * 1024;
/** With so many bytes waiting, they are written at once. */
const ENOUGH_WAITING_BYTES = 4 * 1024 * 1024;
/** How long a call waits to be written together with others, which costs less. */
const DELAY_MS = 200;
/** So much is compressed at once. Meanwhile the event loop runs other work. */
const PIECE_BYTES = 64 * 1024;

/**
 * Keeps the bodies of model calls as JSON lines, compressed in one stream: a request repeats most of the request before it, and the
 * window of the stream reaches back that far. Calls are written a moment after they have ended, and then flushed, so that the file
 * can be read while it grows.
 */
export function openExchangeFile({ file, mask }: ExchangeOptions) {
  const texts = bodyTexts(mask);
  let output: ReturnType<typeof openOutput> | undefined;
  let writing = Promise.resolve();
  let failure: unknown;
  let queue: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let [kept, waiting] = [0, 0];

  /** Never rejects: an error of the file is kept for `close`. */
  function writeQueue(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = queue;
    queue = [];
    writing = writing
      .then(async () => {
        for (const each of batch) {
          if (failure === undefined) await write(each);
          waiting -= each.size;
        }
        await output?.flush();
      })
      .catch((error: unknown) => {
        failure ??= error;
      });
  }

  async function write({ id, wire, requestBytes, request, reply }: Waiting): Promise<void> {
    output ??= openOutput(file);
    const { push } = output;
    const whole = request && reply ? await joinedReply(reply, wire) : undefined;
    const head = {
      ...{ id, wire, is_stream: reply?.isStream === true },
      request_omitted: request ? Math.max(0, requestBytes - MOST_BODY_BYTES) : requestBytes,
      reply_omitted: reply ? reply.omitted + (whole ? 0 : sizeOf(reply.chunks)) : 0,
    };
    await push(`${JSON.stringify(head).slice(0, -1)},"request":`);
    await pushBody(request, push);
    await push(',"reply":');
    await pushBody(whole && texts.reply(whole), push);
    await push('}\n');
  }

  function textOf(request: Uint8Array): Iterable<Buffer> | undefined {
    try {
      return texts.request(bufferOf(request.subarray(0, MOST_BODY_BYTES)));
    } catch (error) {
      failure ??= error; // of the mask
      return undefined;
    }
  }

  return {
    /** Never throws, and does not wait: an error of the file is kept for `close`. */
    append({ request, ...exchange }: Exchange): void {
      const size = request.length + sizeOf(exchange.reply?.chunks ?? []);
      const isKept = kept + size <= MOST_FILE_BYTES && waiting + size <= MOST_WAITING_BYTES;
      if (isKept) kept += size;
      waiting += size;
      queue.push({
        ...exchange,
        request: isKept ? textOf(request) : undefined,
        requestBytes: request.length,
        size,
      });
      if (waiting >= ENOUGH_WAITING_BYTES) writeQueue();
      else timer ??= setTimeout(writeQueue, DELAY_MS).unref();
    },
    /**
     * Waits until every exchange is written.
     * @throws GatewayError `exchanges-unwritable`
     */
    async close(): Promise<void> {
      writeQueue();
      await writing;
      await output?.close().catch((error: unknown) => {
        failure ??= error;
      });
      if (failure === undefined) return;
      const message = `The bodies of model calls cannot be written: ${messageOf(failure)}`;
      throw new GatewayError('exchanges-unwritable', message, { where: file, cause: failure });
    },
  };
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

const sizeOf = (chunks: readonly (string | Uint8Array)[]): number =>
  chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);

/** `undefined` for what cannot be read, such as events that are nested too deeply: its secrets could not be found. */
async function joinedReply(
  { chunks, isStream }: NonNullable<Exchange['reply']>,
  wire: WireProtocol,
): Promise<Buffer | undefined> {
  const whole = Buffer.concat(
    chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
  ).toString();
  try {
    return Buffer.from(await joinDeltas(whole, isStream, wire));
  } catch {
    return undefined;
  }
}

type Push = (piece: string | Buffer) => Promise<void> | undefined;

async function pushBody(texts: Iterable<Buffer> | undefined, push: Push): Promise<void> {
  if (!texts) return push('null');
  await push('"');
  for (const text of texts) await push(text);
  await push('"');
}

function openOutput(file: string) {
  const compress = createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      // 2 MiB reach back to the request before, of up to about 400,000 tokens. Matches that far back are found by their own, small table.
      [constants.ZSTD_c_windowLog]: 21,
      [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    },
  });
  const written = pipeline(compress, createWriteStream(file));
  written.catch(() => undefined); // `close` reports it
  let pieces: Buffer[] = [];
  let length = 0;
  const write = (): Promise<void> =>
    new Promise((resolve, reject) => {
      compress.write(Buffer.concat(pieces), (error) => (error ? reject(error) : resolve()));
      pieces = [];
      length = 0;
    });
  return {
    push(piece: string | Buffer): Promise<void> | undefined {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      pieces.push(bytes);
      length += bytes.length;
      return length >= PIECE_BYTES ? write() : undefined;
    },
    async flush(): Promise<void> {
      if (length > 0) await write();
      await new Promise<void>((resolve) => compress.flush(() => resolve()));
    },
    async close(): Promise<void> {
      if (length > 0) await write();
      compress.end();
      await written;
    },
  };
}
