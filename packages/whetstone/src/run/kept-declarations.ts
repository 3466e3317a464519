import type { Config } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';
import type { ReadRun } from '../record/read-run.ts';

/**
 * What a resumed run compares although the configuration now says something else, as one sentence, or none. A metric, baseline
 * or margin that is chosen after the results would choose the verdict, so those of the manifest hold.
 */
export function keptDeclarations(
  config: Pick<Config, 'metric' | 'equivalence'>,
  plan: Pick<Plan, 'baseline'>,
  resumed: ReadRun | undefined,
): string[] {
  // With an early exit, the metric is that of the plan, whatever the configuration says.
  if (!resumed || resumed.manifest.early_exit) return [];
  const { metric = 'pass_rate', baseline, equivalence = 'none' } = resumed.manifest;
  const kept = (
    [
      ['metric', metric, config.metric ?? 'pass_rate'],
      ['baseline', baseline, plan.baseline],
      ['equivalence', equivalence, config.equivalence ?? 'none'],
    ] as const
  ).flatMap(([key, then, now]) => (then === now ? [] : [`${key} ${then}, not ${now}`]));
  return kept.length === 0
    ? []
    : [
        `The run keeps what was declared before it started: ${kept.join('; ')}. To declare something else, start a new run.`,
      ];
}
