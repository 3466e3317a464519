import type { Readable } from 'node:stream';

/** How long a silent stream may stay open after its process has ended: a process that lives on may hold it open. */
const SILENT_MS = 250;
/** How many times as long a stream may stay open that still brings output. */
const ROUNDS = 8;

/** After the end of a process: reads what is left of its output, and closes it. Somebody must be reading the stream. */
export async function drainOutput(stream: Readable): Promise<void> {
  if (stream.closed) return;
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const closed = new Promise<void>((resolve) => {
    stream.once('close', resolve);
  });
  for (let round = 1, seen = 0; !(await settlesWithin(closed, SILENT_MS)); round += 1) {
    if (bytes === seen || round >= ROUNDS) stream.destroy();
    seen = bytes;
  }
}

async function settlesWithin(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  // Where this process was busy for longer than that, the timer comes first: only a further round of the event loop reads
  // what has arrived meanwhile.
  const timer = setTimeout(() => setImmediate(resolve, false), milliseconds);
  const result = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return result;
}
