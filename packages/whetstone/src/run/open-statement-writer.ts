import { messageOf, WhetstoneError } from '@whetstone/errors';
import { openJudgeModel } from '../attempt/ask-judge-model.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { JudgePrompt } from '../eval/judge/judge-prompt.ts';
import { openJudgeGateway } from './open-judge-gateway.ts';

/** A model, asked through a gateway. Disposing closes it. */
export type StatementWriter = AsyncDisposable & {
  model: string;
  /**
   * Resolves with its answer. `costUsd`: `null` where no price is known.
   * @throws WhetstoneError `statement-not-written` if another question would be refused as well
   */
  ask(prompt: JudgePrompt): Promise<{ answer: string; costUsd: number | null }>;
};

/**
 * Opens a model that writes statements, through a gateway that counts what it costs.
 * @throws WhetstoneError `upstream-missing`, `script-invalid`; GatewayError `key-unavailable`
 */
export async function openStatementWriter({
  model,
  budgetUsd,
  gateway: configured,
  signal,
}: {
  /** `provider/model`. */
  model: string;
  /** Of all statements together. */
  budgetUsd: number;
  /** Whose providers are used. Default: those whose keys are set. */
  gateway: GatewayConfig | undefined;
  signal: AbortSignal;
}): Promise<StatementWriter> {
  const config = { model, votes: 1, sameAsAgent: true, file: '', budget: { costUsd: budgetUsd } };
  await using opened = new AsyncDisposableStack();
  const gateway = await openJudgeGateway(config, configured, { seed: 'statements' });
  if (!gateway) throw new TypeError('A judge has a gateway.');
  opened.use(gateway);
  const planned = { id: 'statements' };
  const lane = await gateway.server.open({
    ...{ owner: 'statements' },
    ...(await gateway.laneOf(planned, 'model')),
  });
  const writer = await openJudgeModel(model, lane);
  const all = opened.move();
  return {
    model,
    async ask(prompt) {
      const before = lane.ledger.length;
      try {
        const answer = await writer.ask(prompt, signal);
        const costs = lane.ledger.slice(before).map(({ cost_usd }) => cost_usd);
        return {
          answer,
          costUsd: costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0),
        };
      } catch (error) {
        const call = lane.ledger.slice(before).at(-1);
        const isRefused = call?.flags.some((flag) => flag === 'over-budget' || flag === 'access-refused');
        const said = call?.error ?? messageOf(error);
        if (isRefused || [400, 401, 403, 404].includes(call?.status ?? 0))
          throw new WhetstoneError('statement-not-written', `${model} cannot write statements: ${said}`, {
            cause: error,
          });
        throw new Error(`${model} did not write a statement: ${said}`, { cause: error });
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
