import { WhetstoneError } from '@whetstone/errors';
import type { Config } from '../config/config.ts';
import { previewReuse } from '../run/preview-reuse.ts';
import type { ReusePolicy } from '../run/reuse.ts';
import type { PlannedExperiment } from './plan-experiments.ts';

/** Why a watch has started this process: it has begun, or a file has changed. */
export type WatchedTurn = 'first' | 'again';

/**
 * What a watch runs: everything at first, and then each experiment with a case that is not the same work as before.
 * @throws WhetstoneError `watch-costs` where each change would cost money
 */
export async function touchedExperiments(
  planned: readonly PlannedExperiment[],
  turn: WatchedTurn,
  reuse: { policy: ReusePolicy; root: string },
): Promise<PlannedExperiment[]> {
  const costly = planned.find(({ config }) => !isFree(config));
  if (costly) {
    throw new WhetstoneError(
      'watch-costs',
      'A watch runs again at each change, and this agent or its judge would call a real model.',
      {
        where: costly.experiment.file,
      },
    );
  }
  if (turn === 'first') return [...planned];
  const touched = [];
  for (const one of planned) {
    const { found } = await previewReuse(one.config, { ...reuse, trials: one.trials });
    const isTouched = [...found.values()].some((known) => 'why' in known && !known.isStored);
    if (isTouched) touched.push(one);
  }
  return touched;
}

/** An agent in the user's own code may do what its author wants; others call a model, which has to be a script or a recording. */
function isFree({ gateway, agents, judge }: Config): boolean {
  if (gateway?.mode === 'script') return true;
  if (gateway?.mode === 'replay') return gateway.miss !== 'fork';
  return gateway === undefined && judge === undefined && agents.every(({ runner }) => runner === 'module');
}

/** Aborts when the watch has ended, also when it was killed: it holds the other end of the standard input. */
export function endOfWatch(): AbortSignal {
  const controller = new AbortController();
  process.stdin.once('end', () => controller.abort(new Error('the watch has ended'))).resume();
  // The input must not keep this process alive.
  (process.stdin as NodeJS.ReadStream).unref?.();
  return controller.signal;
}
