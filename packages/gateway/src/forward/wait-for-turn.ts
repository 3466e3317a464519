import type { ProviderTurn, Turns } from '../rate/turns.ts';
import type { ModelCall } from '../source.ts';

/**
 * Waits for a call's turn at its provider. The call keeps its turn until it has ended. The gateway only delays calls: a
 * refusal goes to the client, and the client decides whether to retry.
 * @param saidOverload whether the provider refused the call in an answer that began with status 200
 * @throws RequestError 429 when it was held back for too long
 */
export async function waitForTurn(
  turns: Turns,
  call: ModelCall,
  saidOverload: () => boolean,
): Promise<ProviderTurn> {
  const { line, signal, ended } = call;
  const arrivedAt = performance.now();
  const turn = await turns.take(signal).catch((error: unknown) => {
    line.queued_ms = Math.round(performance.now() - arrivedAt);
    throw error;
  });
  line.queued_ms = Math.round(turn.waitedMs);
  // Only after the call is charged, because the next call may then be over the budget.
  void ended.then(() => {
    if (saidOverload()) turn.refused();
    turn.end(line.outcome === 'ok');
  });
  return turn;
}
