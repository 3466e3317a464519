import { createHash } from 'node:crypto';

/** What decides a scripted draw, beside its label. */
export type ChanceSeed = { seed: string | number; owner: string };

/** True with `probability`, decided by seed, owner and label. A higher probability never turns true into false. */
export function chance({ seed, owner }: ChanceSeed, label: string, probability: number): boolean {
  const digest = createHash('sha256')
    .update(JSON.stringify([String(seed), owner, label]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48 < probability;
}
