import { type Exchange, MOST_BODY_BYTES } from './exchange-file.ts';

/** Collects what is sent of a reply, without a copy. */
export function collectReply() {
  const chunks: (string | Uint8Array)[] = [];
  let [size, omitted] = [0, 0];
  return {
    add(chunk: string | Uint8Array): void {
      const bytes = Buffer.byteLength(chunk);
      if (size + bytes > MOST_BODY_BYTES) omitted += bytes;
      else {
        size += bytes;
        chunks.push(chunk);
      }
    },
    all: (isStream: boolean): Exchange['reply'] => ({ chunks, omitted, isStream }),
  };
}
