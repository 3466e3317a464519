import type { Config } from '../config/config.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';
import { agentVersions } from './open-record.ts';
import { type PlannedRun, planOrResume } from './plan-or-resume.ts';
import { findReusable, type Reuse, type ReusePolicy } from './reuse.ts';

/** What a run would reuse, and why it would run the rest. Starts no agent, and only asks programs for their version. */
export async function previewReuse(
  config: Config,
  { trials, policy, root }: { trials: number; policy: ReusePolicy; root: string },
): Promise<PlannedRun & { found: ReadonlyMap<string, Reuse> }> {
  const planned = await planOrResume({ config, selection: {}, trials });
  const { plan } = planned;
  await using scratch = await makeScratch();
  const versions = await agentVersions(config, plan, scratch.directory);
  return {
    ...planned,
    found: await findReusable({ plan, outputDir: config.outputDir, root, versions }, policy),
  };
}
