import { WhetstoneError } from '@whetstone/errors';
import type { Agent } from './agent.ts';
import { createCommandAgent } from './command/command-agent.ts';
import type { AgentConfig } from './config.ts';
import { resolveAgentEnv } from './kit/agent-environment.ts';
import { createLoopAgent } from './loop/loop-agent.ts';
import { createModuleAgent } from './module/module-agent.ts';
import { createDrivenAgent } from './native/create-driven-agent.ts';

export type AgentDependencies = {
  /** The user's own environment: `${NAME}` in an agent's `env`, and the keys of in-process agents, come from here. */
  environment: NodeJS.ProcessEnv;
  /** Whether each attempt will have a lane of the gateway: a model can then be reached without a key. */
  hasLanes: boolean;
};

/**
 * Makes the agent that a configuration describes. A variable or key that it needs and the user's environment does
 * not set is an error here, before anything runs, and so is a module that exports no agent.
 */
export async function createAgent(
  config: AgentConfig,
  { environment, hasLanes }: AgentDependencies,
): Promise<Agent> {
  const agentEnvironment = resolveAgentEnv(config.env, environment);
  if (config.kind === 'loop') return createLoopAgent(config, agentEnvironment, { environment, hasLanes });
  if (config.cli) return createDrivenAgent(config, config.cli, agentEnvironment, { environment, hasLanes });
  if (config.module) return createModuleAgent(config, config.module, agentEnvironment);
  if (config.command) return createCommandAgent(config, config.command, agentEnvironment);
  throw new WhetstoneError(
    'agent-command-missing',
    `The agent ${config.name} of kind ${config.kind} has no command.`,
    {
      exitCode: 2,
      where: `agents.${config.name}.command`,
      hint: 'Give it a command template or a module, or use `kind: loop`.',
    },
  );
}
