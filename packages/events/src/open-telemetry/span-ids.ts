import { createHash, randomBytes } from 'node:crypto';

export type SpanIds = ReturnType<typeof createSpanIds>;

/** Ids of one trace: random, or always the same for the same seed and order. */
export function createSpanIds(seed: string | undefined) {
  let count = 0;
  const id = (name: string, bytes: number): string =>
    seed === undefined
      ? randomBytes(bytes).toString('hex')
      : createHash('sha256')
          .update(`${seed}\0${name}`)
          .digest('hex')
          .slice(0, 2 * bytes);
  return {
    traceId: id('trace', 16),
    nextSpanId: (): string => {
      count += 1;
      return id(`span ${count}`, 8);
    },
  };
}
