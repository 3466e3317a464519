import type { Trace } from './lab.ts';

/** A limit that the commands of a case ran into. */
export type Exceeded = 'memory' | 'processes' | 'disk';

export const exceededBy = ({ usage, disk }: Pick<Trace, 'usage' | 'disk'>): Exceeded[] => [
  ...(usage?.exceeded ?? []),
  ...(disk?.wasFull ? (['disk'] as const) : []),
];
