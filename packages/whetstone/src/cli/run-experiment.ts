import { type RunOptions, type RunResult, run } from '../run/run.ts';
import type { PlannedExperiment } from './plan-experiments.ts';

/** Runs a planned experiment between its `setup` and its `teardown`. */
export async function runExperiment(
  { experiment: { definition }, config, trials }: PlannedExperiment,
  options: Omit<RunOptions, 'config' | 'trials'>,
): Promise<RunResult> {
  await definition.setup?.();
  try {
    return await run({ ...options, config, trials });
  } finally {
    await definition.teardown?.();
  }
}
