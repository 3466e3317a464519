import type { AgentConfig } from '@whetstone/agents/config';
import type { JudgeConfig } from '../../config/config.ts';
import { isSameModel } from './same-model.ts';

/** The model that the configuration of an agent states. */
export function modelOf(agent: AgentConfig): string | undefined {
  if (agent.runner === 'loop') return agent.loop.model;
  if (agent.runner === 'module') return agent.module.model;
  return agent.runner === 'driver' ? agent.driver.model : undefined;
}

/** Whether a judge would judge itself, as far as the configuration shows it. `models`: those that answered the agent. */
export function isJudgeOf(
  { model, agent: judge }: Pick<JudgeConfig, 'model' | 'agent'>,
  agent: AgentConfig,
): boolean {
  const ofAgent = modelOf(agent);
  if (typeof model === 'string' && ofAgent !== undefined && isSameModel(ofAgent, model)) return true;
  if (!judge) return false;
  const own = modelOf(judge);
  if (own !== undefined && ofAgent !== undefined) return isSameModel(ofAgent, own);
  return judge.runner === 'module' ? judge.name === agent.name : judge.kind === agent.kind;
}
