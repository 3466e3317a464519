import type { Measured } from './measured-process.ts';

/** A system that does the same work, to be measured as often as wanted, or why it cannot be. */
export type Peer =
  | { kind: 'ready'; name: string; measure: () => Promise<Measured> }
  | { kind: 'missing'; name: string; reason: string };
