import type { Agent } from './agent.ts';
import { type AgentOptions, toAgentConfig } from './agent-options.ts';
import { createCommandAgent } from './command/command-agent.ts';
import type { AgentConfig } from './config.ts';
import { resolveAgentEnv } from './kit/agent-environment.ts';
import { providerKeys } from './kit/agent-secrets.ts';
import { createLoopAgent } from './loop/loop-agent.ts';
import { markHosted } from './module/hosted-agent.ts';
import { createModuleAgent } from './module/module-agent.ts';
import { drivenAgentOf } from './native/driven-agent-of.ts';
import { createDriverAgent } from './native/driver-agent.ts';
import { nativeAgentOf } from './native/native-agents.ts';

export type AgentDependencies = {
  /**
   * The user's own environment: `${NAME}` in an agent's `env`, the key of an agent's provider and the PATH on which its
   * program is looked up come from here. Default: `process.env`.
   */
  environment?: NodeJS.ProcessEnv;
  /** Whether each turn will have a lane of a gateway: the agent then needs no key of its own. Default: false. */
  hasLanes?: boolean;
};

/**
 * Makes an agent, to be driven with `driveAgent` or `openSession`.
 *
 * ```ts
 * const codex = await createAgent({ kind: 'codex-cli', model: 'gpt-5.5' });
 * const mine = await createAgent({ command: 'my-agent --prompt-file {prompt_file}' });
 * ```
 *
 * @param agent Options, or the `AgentConfig` that a configuration file was read to.
 * @throws WhetstoneError for what is missing, before anything runs: `env-missing` for a variable,
 * `agent-key-missing` for a key, `agent-login-missing` for a login, `agent-model-missing` for a model, `agent-not-installed` for the program of a released agent, `agent-module-invalid` for a module
 * that cannot be loaded or does not export an agent
 */
export async function createAgent(
  agent: AgentOptions | AgentConfig,
  { environment = process.env, hasLanes = false }: AgentDependencies = {},
): Promise<Agent> {
  const config = 'runner' in agent ? agent : toAgentConfig(agent);
  const readsAbove = (config.runner === 'driver' ? drivenAgentOf(config) : nativeAgentOf(config.kind))?.facts
    .readsAbove;
  return markHosted(await agentOf(config, { environment, hasLanes }), readsAbove);
}

function agentOf(config: AgentConfig, user: Required<AgentDependencies>): Agent | Promise<Agent> {
  const resolved = resolveAgentEnv(config.env, user.environment);
  const environment = { ...resolved, secrets: [...resolved.secrets, ...providerKeys(user.environment)] };
  switch (config.runner) {
    case 'command':
      return createCommandAgent(config, environment);
    case 'driver':
      return createDriverAgent(config, environment, user);
    case 'module':
      return createModuleAgent(config, environment);
    case 'loop':
      return createLoopAgent(config, environment, user);
  }
}
