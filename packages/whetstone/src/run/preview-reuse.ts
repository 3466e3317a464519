import type { Config } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';
import { agentVersions } from './open-record.ts';
import { planOrResume } from './plan-or-resume.ts';
import { findReusable, type Reuse, type ReusePolicy } from './reuse.ts';

/** What a run would reuse, and why it would run the rest. Starts no agent, and only asks programs for their version. */
export async function previewReuse(
  config: Config,
  { trials, policy, root }: { trials: number; policy: ReusePolicy; root: string },
): Promise<{ plan: Plan; found: ReadonlyMap<string, Reuse> }> {
  const { plan } = await planOrResume({ config, selection: {}, trials });
  await using scratch = await makeScratch();
  const versions = await agentVersions(config, plan, scratch.directory);
  return { plan, found: await findReusable({ plan, outputDir: config.outputDir, root, versions }, policy) };
}
