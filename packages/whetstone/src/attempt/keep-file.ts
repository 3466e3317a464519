import { closeSync, constants, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Mask } from '@whetstone/sandbox';

const CHUNK_BYTES = 256 * 1024;

/** A copied file, and whether secrets were masked in it. */
export type KeptFile = 'same' | 'masked';

/** A file of an agent cannot be read, or changed while it was being read. */
export class UnreadableSource extends Error {}

/** Throws `UnreadableSource` for anything but a regular file of at most `limitBytes`. Only secrets are changed. */
export async function keepFile(
  source: string | Buffer,
  target: string | Buffer,
  {
    mask,
    limitBytes = Number.POSITIVE_INFINITY,
    isExecutable = false,
  }: { mask: Mask; limitBytes?: number; isExecutable?: boolean },
): Promise<KeptFile> {
  const input = openRegularFile(source, limitBytes);
  try {
    const output = openSync(target, 'wx', isExecutable ? 0o700 : 0o600);
    try {
      return await passMasked(chunksOf(input, limitBytes), mask, async (chunk) =>
        writeFileSync(output, chunk),
      );
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
}

/** Passes bytes on with every secret masked. Afterwards it knows whether there was a secret. */
export async function passMasked(
  source: AsyncIterable<Buffer>,
  mask: Mask,
  write: (chunk: Buffer) => Promise<void>,
): Promise<KeptFile> {
  const stream = mask.stream();
  const comparison = compareStreams();
  const pass = async (chunk: Buffer): Promise<void> => {
    comparison.written(chunk);
    await write(chunk);
  };
  for await (const chunk of source) {
    comparison.read(chunk);
    await pass(stream.push(chunk));
  }
  await pass(stream.end());
  return comparison.same() ? 'same' : 'masked';
}

async function* chunksOf(descriptor: number, limitBytes: number): AsyncGenerator<Buffer> {
  for (let left = limitBytes; left > 0; ) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
    const read = readSync(descriptor, buffer);
    if (read === 0) return;
    left -= read;
    yield buffer.subarray(0, read);
    await setImmediate(); // other cases get a turn
  }
}

function openRegularFile(path: string | Buffer, limitBytes: number): number {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = openForReading(path, flags);
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size <= limitBytes) return descriptor;
  closeSync(descriptor);
  throw new UnreadableSource(stats.isFile() ? 'it is too large' : 'it is not a regular file');
}

function openForReading(path: string | Buffer, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (cause) {
    throw new UnreadableSource('it cannot be read', { cause });
  }
}

/** Whether the bytes written so far equal the bytes read. Writing may lag behind reading. */
function compareStreams() {
  let ahead: Buffer = Buffer.alloc(0);
  let same = true;
  return {
    read(chunk: Buffer) {
      if (same) ahead = ahead.length === 0 ? chunk : Buffer.concat([ahead, chunk]);
    },
    written(chunk: Buffer) {
      same &&= ahead.subarray(0, chunk.length).equals(chunk);
      ahead = same ? ahead.subarray(chunk.length) : Buffer.alloc(0);
    },
    same: () => same && ahead.length === 0,
  };
}
