import type { Preamble } from './preamble.ts';
import type { Turn } from './turn.ts';

/** A conversation as plain JSON. */
export type SessionSnapshot = {
  version: 1;
  id: string;
  turns: Turn[];
  /** Absent where no request was built yet. */
  preamble?: Preamble;
};

const TURN_KINDS: ReadonlySet<unknown> = new Set<Turn['kind']>([
  'user',
  'assistant',
  'tool_results',
  'system',
  'steering',
]);

/** Throws a `TypeError` that says what is wrong where `value` is no snapshot that this version reads. */
export function checkSnapshot(value: unknown): SessionSnapshot {
  if (!isRecord(value)) throw new TypeError('restore: a snapshot is an object');
  if (value.version !== 1)
    throw new TypeError(`restore: this version reads snapshots of version 1, not ${value.version}`);
  if (typeof value.id !== 'string' || !Array.isArray(value.turns))
    throw new TypeError('restore: `id` or `turns` is missing');
  value.turns.forEach((turn, index) => {
    if (!isTurn(turn)) throw new TypeError(`restore: turns[${index}] is no turn`);
  });
  return value as SessionSnapshot;
}

function isTurn(value: unknown): boolean {
  if (!isRecord(value) || !TURN_KINDS.has(value.kind) || typeof value.id !== 'string') return false;
  if (value.kind === 'assistant') return Array.isArray(value.parts) && value.parts.every(isRecord);
  if (value.kind === 'tool_results') return Array.isArray(value.results) && value.results.every(isRecord);
  return typeof value.content === 'string' || Array.isArray(value.content);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
