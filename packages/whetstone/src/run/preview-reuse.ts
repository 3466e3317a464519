import type { Config } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import type { Plan } from '../plan/plan.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';
import { agentVersions } from './open-record.ts';
import { type PlannedRun, planOrResume } from './plan-or-resume.ts';
import { findReusable, type Reuse, type ReusePolicy } from './reuse.ts';

/** `passedIn`: it would not run, because this trial of the same work has passed in that run (early exit). */
export type Preview = Reuse | { passedIn: string; trial: number };

/** What a run would reuse, and why it would run the rest. Starts no agent, and only asks programs for their version. */
export async function previewReuse(
  config: Config,
  { trials, policy, root }: { trials: number; policy: ReusePolicy; root: string },
): Promise<PlannedRun & { found: ReadonlyMap<string, Preview> }> {
  const planned = await planOrResume({ config, selection: {}, trials });
  const { plan } = planned;
  await using scratch = await makeScratch({ isShared: usesEngine(planned.config.sandbox) });
  const versions = await agentVersions(planned.config, plan, scratch.directory);
  const found = await findReusable({ plan, outputDir: config.outputDir, root, versions }, policy);
  return { ...planned, found: config.earlyExit ? leaveOut(plan, found) : found };
}

function leaveOut({ cases }: Plan, found: ReadonlyMap<string, Reuse>): ReadonlyMap<string, Preview> {
  const cells = Map.groupBy(cases, ({ agent, task, variant }) => JSON.stringify([agent, task, variant]));
  const previews = new Map<string, Preview>();
  for (const trials of cells.values()) {
    const known = trials.flatMap(({ id }) => found.get(id) ?? []);
    const passed = known.find((one) => 'row' in one && one.row.outcome === 'passed');
    for (const { id } of trials) {
      const own = found.get(id);
      if (!own) continue;
      const isLeftOut = passed && 'row' in passed && !('row' in own);
      previews.set(id, isLeftOut ? { passedIn: passed.row.run_id, trial: passed.row.trial_index } : own);
    }
  }
  return previews;
}
