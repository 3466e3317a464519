import type { LaneOptions, LedgerLine } from '@whetstone/gateway';
import type { Attempt } from './lab.ts';

const isModelCall = ({ flags }: LedgerLine): boolean => !flags.includes('auxiliary');

/** Whether the provider, and not the agent, ended a call. */
const isFailed = ({ outcome, flags }: LedgerLine): boolean =>
  outcome === 'error' && !flags.includes('over-budget') && !flags.includes('unauthenticated');

const reasonOf = ({ status }: LedgerLine): string =>
  status === null || status < 400 ? 'its provider broke off' : `its provider answered ${status}`;

/** Reports that an agent waits after a call that its provider failed, and that it goes on with the next one. */
export function reportWaits({
  onProgress,
}: Pick<Attempt, 'onProgress'>): Required<Pick<LaneOptions, 'onCall' | 'onRequest'>> {
  let isWaiting = false;
  return {
    onCall(line) {
      if (!isModelCall(line) || !isFailed(line)) return;
      isWaiting = true;
      onProgress?.({ phase: 'agent', waiting: reasonOf(line) });
    },
    onRequest() {
      if (!isWaiting) return;
      isWaiting = false;
      onProgress?.({ phase: 'agent', action: 'calls its model again' });
    },
  };
}

/**
 * How many seconds an agent waited for its provider instead of working: for the turn of its calls at the provider, and
 * between a call that failed and the next one. Time in which another of its calls was under way does not count.
 */
export function secondsWaited(calls: readonly LedgerLine[]): number {
  const own = calls.filter(isModelCall).map((line) => {
    const start = Date.parse(line.at);
    return { line, start, served: start + line.queued_ms, end: start + line.total_ms };
  });
  const waits = own.flatMap(({ line, start, served, end }) => {
    const next = Math.min(...own.filter((other) => other.start >= end).map((other) => other.start));
    const pause = isFailed(line) && Number.isFinite(next) ? [{ from: end, to: next }] : [];
    return [{ from: start, to: served }, ...pause];
  });
  const busy = own.map(({ served, end }) => ({ from: served, to: end }));
  return (lengthOf([...waits, ...busy]) - lengthOf(busy)) / 1000;
}

/** The length of a union of spans. */
function lengthOf(spans: readonly { from: number; to: number }[]): number {
  let total = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { from, to } of spans.toSorted((left, right) => left.from - right.from)) {
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return total;
}
