import { totalTokens } from '@whetstone/events';
import type { LedgerLine, Spent } from '@whetstone/gateway';
import { caseLayout, runLayout } from '../record/layout.ts';
import { interruptedCalls, readCalls } from '../record/read-calls.ts';
import type { ReadRun } from '../record/read-run.ts';
import type { EarlierAttempts } from '../record/row.ts';

/**
 * What the agents of a run used through the gateway until it was resumed, as far as it is known. Interrupted attempts count, and
 * results that were reused from other runs do not.
 */
export function usedBefore({ directory, manifest, rows, interrupted }: ReadRun): Spent {
  const layout = runLayout(directory);
  const parts = manifest.case_matrix.flatMap(({ case_id: id }) => {
    const files = caseLayout(layout.case(id));
    const row = rows.get(id);
    const started = interrupted.get(id);
    const own = row?.reused_from === undefined ? row : undefined;
    // The calls in the folder are those of the row, or of an attempt after it.
    if (!started) return own ? [usedOf(own, readCalls(files.modelCalls))] : [];
    const before = started.earlier ?? own;
    return [...(before ? [usedOf(before, [])] : []), usedIn(interruptedCalls(files, started).ofAgent)];
  });
  return sumOf(parts);
}

/** A figure that a row does not know is that of the calls that are known. */
function usedOf(row: EarlierAttempts, calls: readonly LedgerLine[]): Spent {
  const known = usedIn(calls);
  const { usage_source, cost_usd, total_tokens, model_calls } = row;
  if (usage_source !== 'gateway') return known;
  return {
    costUsd: cost_usd ?? known.costUsd,
    tokens: total_tokens ?? known.tokens,
    calls: model_calls ?? known.calls,
  };
}

const usedIn = (calls: readonly LedgerLine[]): Spent =>
  sumOf(
    calls.flatMap(({ usage, cost_usd }) =>
      usage ? [{ costUsd: cost_usd ?? 0, tokens: totalTokens(usage), calls: 1 }] : [],
    ),
  );

const sumOf = (parts: readonly Spent[]): Spent => ({
  costUsd: parts.reduce((sum, { costUsd }) => sum + costUsd, 0),
  tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
  calls: parts.reduce((sum, { calls }) => sum + calls, 0),
});
