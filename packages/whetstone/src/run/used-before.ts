import { totalTokens } from '@whetstone/events';
import type { LedgerLine, Spent } from '@whetstone/gateway';
import { caseLayout, runLayout } from '../record/layout.ts';
import { interruptedCalls, readCalls } from '../record/read-calls.ts';
import type { ReadRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';

/**
 * What the agents of a run used through the gateway until it was resumed, as far as it is known. Interrupted attempts count, and
 * results that were reused from other runs do not.
 */
export function usedBefore({ directory, manifest, rows }: ReadRun): Spent {
  const layout = runLayout(directory);
  const parts = manifest.case_matrix.flatMap(({ case_id: id }) => {
    const files = caseLayout(layout.case(id));
    const row = rows.get(id);
    const isOwn = row?.usage_source === 'gateway' && row.reused_from === undefined;
    const interrupted = interruptedCalls(files);
    // The calls in the folder are those of the row, or of an attempt after it.
    const ofRow = interrupted.length > 0 ? [] : readCalls(files.modelCalls);
    return [...(isOwn ? [usedOf(row, ofRow)] : []), usedIn(interrupted)];
  });
  return sumOf(parts);
}

/** A figure that a row does not know is that of the calls that are known. */
function usedOf({ cost_usd, total_tokens, model_calls }: CaseRow, calls: readonly LedgerLine[]): Spent {
  const known = usedIn(calls);
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
