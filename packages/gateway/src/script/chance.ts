import { createHash } from 'node:crypto';

/** What a scripted draw hangs on. */
export type ChanceSeed = { seed: string | number; attempt: string };

/**
 * A draw that is true with `probability`, decided by seed, attempt and label alone. For one seed, attempt and label a
 * higher probability never turns a true draw into a false one.
 */
export function chance({ seed, attempt }: ChanceSeed, label: string, probability: number): boolean {
  const digest = createHash('sha256')
    .update(JSON.stringify([String(seed), attempt, label]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48 < probability;
}
