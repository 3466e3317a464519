import { createHash } from 'node:crypto';

/** Uniform 32-bit integers that depend only on `seed`: the sfc32 generator, whose state is the SHA-256 of the seed. */
export function seededWords(seed: string): () => number {
  const digest = createHash('sha256').update(seed).digest();
  let a = digest.readUInt32LE(0);
  let b = digest.readUInt32LE(4);
  let c = digest.readUInt32LE(8);
  let counter = digest.readUInt32LE(12);
  return () => {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + word;
    return word >>> 0;
  };
}

/** Uniform numbers in [0, 1) that depend only on `seed`. */
export function seededRandom(seed: string): () => number {
  const word = seededWords(seed);
  return () => word() / 2 ** 32;
}
