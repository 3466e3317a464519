import { type SandboxProvider, startSandboxProvider } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';

/** Starts the sandboxes of a run. Where they show only what is listed, that is what the agents' programs are made of. */
export async function startSandboxes(config: Config, plan: Plan, scratch: string): Promise<SandboxProvider> {
  const { provider, readable = [] } = config.sandbox;
  if (provider === 'process') return startSandboxProvider(provider, { scratch });
  const { programFolders } = await import('@whetstone/agents/install');
  const agents = [
    ...inPlan(config.agents, plan.agents),
    ...(config.judge?.agent ? [config.judge.agent] : []),
  ];
  const programs = await Promise.all(agents.map(programFolders));
  return startSandboxProvider(provider, { scratch, readable: [...programs.flat(), ...readable] });
}
