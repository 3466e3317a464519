import { createHash } from 'node:crypto';

/** What decides a scripted draw, beside its label. */
export type ChanceSeed = { seed: string | number; owner: string };

/**
 * A draw that is true with `probability`, decided only by seed, owner and label. With the same seed, owner and label, a
 * higher probability never turns a true draw into a false one.
 */
export function chance({ seed, owner }: ChanceSeed, label: string, probability: number): boolean {
  const digest = createHash('sha256')
    .update(JSON.stringify([String(seed), owner, label]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48 < probability;
}
