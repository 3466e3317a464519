import { WhetstoneError } from '@whetstone/errors';
import type { AgentConfig } from './config.ts';
import { locateProgram } from './install/installed-agents.ts';
import { resolveAgentEnv } from './kit/agent-environment.ts';
import { loopKey } from './loop/loop-key.ts';
import { checkOptions } from './native/check-options.ts';
import { drivenAgentOf } from './native/driven-agent-of.ts';
import { openAccess, requireModel } from './native/open-access.ts';

/**
 * Everything that an agent lacks: variables, its program, a model, a key or login. `createAgent` throws the first of
 * these errors. Starts nothing, and does not load the code of a module.
 */
export async function agentProblems(
  agent: AgentConfig,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Promise<WhetstoneError[]> {
  const problems: WhetstoneError[] = [];
  for (const check of checksOf(agent, user)) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof WhetstoneError)) throw error;
      problems.push(error);
    }
  }
  return problems;
}

function checksOf(
  agent: AgentConfig,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): (() => unknown)[] {
  const { environment } = user;
  const variables = () => resolveAgentEnv(agent.env, environment);
  switch (agent.runner) {
    case 'driver':
      return [
        variables,
        () => checkOptions(agent, drivenAgentOf(agent)),
        () => locateProgram(drivenAgentOf(agent), agent.driver.version, environment),
        () => requireModel(agent),
        () => openAccess(agent, user),
      ];
    case 'loop':
      return [variables, () => loopKey(agent, agent.env, user)];
    case 'command':
    case 'module':
      return [variables];
  }
}
