import type { AgentConfig } from '../config.ts';
import { loopDefaults } from '../loop/loop-defaults.ts';
import { drivenAgentOf } from '../native/driven-agent-of.ts';
import { findLogin, needsKey, usesLogin } from '../native/login.ts';
import { driverKeyVariable } from '../native/model-provider.ts';
import type { NativeAgent } from '../native/native-agent.ts';
import { nativeAgents } from '../native/native-agents.ts';
import { resolveAgentEnv } from './agent-environment.ts';

/** The variable that holds the agent's model key without a gateway; `undefined` if only the agent knows it. */
export function agentKeyVariable(agent: AgentConfig): string | undefined {
  switch (agent.runner) {
    case 'driver':
      return needsKey(agent) ? driverKeyVariable(agent) : undefined;
    case 'loop':
      return agent.loop.apiKeyEnv ?? loopDefaults[agent.loop.profile].apiKeyEnv;
    default:
      return undefined;
  }
}

/** What must never be stored: values of `${NAME}`, variables with the name of a secret, the user's model key or login. */
export function agentSecrets(agent: AgentConfig, environment: NodeJS.ProcessEnv): string[] {
  const variable = agentKeyVariable(agent);
  const key = variable === undefined ? undefined : environment[variable];
  const given = [...resolveAgentEnv(agent.env, environment).secrets, ...loginSecrets(agent, environment)];
  return [...given, key ?? ''].filter((secret) => secret !== '');
}

function loginSecrets(agent: AgentConfig, environment: NodeJS.ProcessEnv): string[] {
  const facts = usesLogin(agent) ? drivenAgentOf(agent).facts.login : undefined;
  const login = facts && findLogin(facts, environment);
  return login && 'secrets' in login ? login.secrets : [];
}

const PROVIDER_KEY =
  /_(API_?KEY|API_TOKEN|AUTH_TOKEN|ADMIN_KEY|ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN\w*)$|^(HF_TOKEN|HUGGING_FACE_HUB_TOKEN|DATABRICKS_TOKEN|FAL_KEY|GITLAB_TOKEN|VERCEL_OIDC_TOKEN)$/;

/**
 * The model keys and logins in the environment of this process, by the names that providers and agents give them. No agent
 * is given them unless the configuration says so, but the process sandbox does not keep an agent from reading them.
 */
export function providerKeys(environment: NodeJS.ProcessEnv): string[] {
  const logins = Object.values<NativeAgent>(nativeAgents).flatMap(({ facts: { login } }) => [
    ...(login?.variables ?? []),
  ]);
  return Object.entries(environment).flatMap(([name, value]) =>
    value && (PROVIDER_KEY.test(name) || logins.includes(name)) ? [value] : [],
  );
}
