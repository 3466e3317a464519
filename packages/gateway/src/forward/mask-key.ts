/**
 * Shorter keys are the words that servers without keys take (`none`, `EMPTY`, `ollama`). To mask them would change what
 * the model says, and protect nothing.
 */
const SHORTEST_KEY = 8;

/** Replaces a key in a byte stream with one star per byte, also where chunks cut it. Keys under 8 characters stay. */
export function maskKey(key: string) {
  if (key.length < SHORTEST_KEY) return { push: asBuffer, end: () => Buffer.alloc(0) };
  const secret = Buffer.from(key);
  const stars = Buffer.alloc(secret.length, '*');
  let held: Buffer = Buffer.alloc(0);

  return {
    /** The bytes that can be passed on. The end is held back while it may be the beginning of the key. */
    push(chunk: Uint8Array): Buffer {
      let bytes = held.length === 0 ? asBuffer(chunk) : Buffer.concat([held, chunk]);
      // The chunk is not ours to change.
      if (bytes.includes(secret)) bytes = Buffer.from(bytes);
      for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
        stars.copy(bytes, at);
      }
      const heldLength = beginningAtEnd(bytes, secret);
      held = bytes.subarray(bytes.length - heldLength);
      return bytes.subarray(0, bytes.length - heldLength);
    },
    end: (): Buffer => held,
  };
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** How many bytes at the end of `bytes` are the beginning of `secret`. The whole of `secret` is not in `bytes`. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  const first = secret.subarray(0, 1);
  // A quick exit: a stream has many events, and most do not have this byte near their end.
  let at = bytes.indexOf(first, Math.max(0, bytes.length - (secret.length - 1)));
  for (; at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (bytes.subarray(at).equals(secret.subarray(0, bytes.length - at))) return bytes.length - at;
  }
  return 0;
}

export const maskKeyInText = (text: string, key: string): string =>
  key.length < SHORTEST_KEY ? text : text.replaceAll(key, '*'.repeat(key.length));
