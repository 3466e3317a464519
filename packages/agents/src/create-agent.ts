import type { Agent } from './agent.ts';
import { createCommandAgent } from './command/command-agent.ts';
import type { AgentConfig } from './config.ts';
import { resolveAgentEnv } from './kit/agent-environment.ts';
import { createLoopAgent } from './loop/loop-agent.ts';
import { markHosted } from './module/hosted-agent.ts';
import { createModuleAgent } from './module/module-agent.ts';
import { createDriverAgent } from './native/driver-agent.ts';

export type AgentDependencies = {
  /** The user's own environment: `${NAME}` in an agent's `env`, and the keys of in-process agents, come from here. */
  environment: NodeJS.ProcessEnv;
  /** Whether each attempt will have a lane of the gateway: the agent then needs no key of its own. */
  hasLanes: boolean;
};

/**
 * Makes the agent that a configuration describes. A variable, key or program that it needs and that is missing is an
 * error here, before anything runs, and so is a module that does not export an agent.
 */
export async function createAgent(config: AgentConfig, dependencies: AgentDependencies): Promise<Agent> {
  return markHosted(await agentOf(config, dependencies));
}

async function agentOf(config: AgentConfig, dependencies: AgentDependencies): Promise<Agent> {
  const environment = resolveAgentEnv(config.env, dependencies.environment);
  switch (config.runner) {
    case 'command':
      return createCommandAgent(config, environment);
    case 'driver':
      return createDriverAgent(config, environment, dependencies);
    case 'module':
      return createModuleAgent(config, environment);
    case 'loop':
      return createLoopAgent(config, environment, dependencies);
  }
}
