import type { ProviderTurn, Turns } from '../rate/turns.ts';
import type { ModelCall } from '../source.ts';

/**
 * Waits for a call's turn at its provider. The call keeps its turn until it has ended. The gateway only delays calls: a
 * refusal goes to the client, and the client decides whether to retry.
 * @throws RequestError 429 when it was held back for too long
 */
export async function waitForTurn(turns: Turns, call: ModelCall): Promise<ProviderTurn> {
  const { line, signal, ended } = call;
  const arrivedAt = performance.now();
  const turn = await turns.take(signal).finally(() => {
    line.queued_ms = Math.round(performance.now() - arrivedAt);
  });
  // Only after the call is charged, because the next call may then be over the budget.
  void ended.then(() => turn.end(line.outcome === 'ok'));
  return turn;
}
