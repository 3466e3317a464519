/** Reads a recorded stream again and again, up to a number of bytes. Arguments: kind, file, bytes. */
import { readFileSync } from 'node:fs';
import { parseNative } from '@whetstone/agents';

const [kind = '', file = '', bytes] = process.argv.slice(2);
const stream = readFileSync(file);
await parseNative(kind, pieces(), { form: 'stream', emit: () => {} });

/** In pieces of 64 KiB, like a pipe. */
async function* pieces(): AsyncGenerator<Buffer> {
  for (let read = 0; read < Number(bytes); read += stream.length) {
    for (let at = 0; at < stream.length; at += 65_536) yield stream.subarray(at, at + 65_536);
  }
}
