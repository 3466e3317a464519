import { open } from 'node:fs/promises';
import { isJsonObject, type JsonObject, parseJson } from '@whetstone/events';

/** Of a file that grew by more than this at once, the beginning of the new part is skipped. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Reads a JSON lines file that another process appends to: each call gives the objects that have come since the last one. */
export type GrowingLines = {
  /** `isCut`: lines were skipped, so that sums over them are too small. */
  next(): Promise<{ values: JsonObject[]; isCut: boolean }>;
};

/** `path` may not exist yet. Lines that are not JSON objects are left out. */
export function growingLines(path: string): GrowingLines {
  let offset = 0;
  let rest = Buffer.alloc(0);
  return {
    async next() {
      const handle = await open(path, 'r').catch(() => undefined);
      if (handle === undefined) return { values: [], isCut: false };
      try {
        const { size } = await handle.stat();
        const isCut = size - offset > MOST_BYTES;
        if (isCut) {
          offset = size - MOST_BYTES;
          rest = Buffer.alloc(0);
        }
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), {
          position: offset,
        });
        offset += bytesRead;
        const all = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = all.lastIndexOf(0x0a) + 1;
        rest = Buffer.from(all.subarray(end));
        const lines = all.subarray(0, end).toString().split('\n');
        const values = lines.flatMap((line) => {
          const value = parseJson(line);
          return isJsonObject(value) ? [value] : [];
        });
        return { values, isCut };
      } finally {
        await handle.close();
      }
    },
  };
}
