import { sandboxPath } from '@whetstone/sandbox';
import { toAgentConfig } from '../agent-options.ts';
import { findOnPath } from '../command/find-on-path.ts';
import { agentKeyVariable } from '../kit/agent-secrets.ts';
import { findLogin } from '../native/login.ts';
import type { DrivenAgent } from '../native/native-agent.ts';
import { type DrivenAgentKind, drivenAgents } from '../native/native-agents.ts';
import { installedVersions, moduleOfProject } from './installed-agents.ts';

/** A released agent, as this machine has it. */
export type AgentHere = {
  kind: DrivenAgentKind;
  agent: DrivenAgent;
  /** Where the PATH of a sandbox has it; of an SDK, where the user's project has its module. */
  onPath: string | null;
  /** The versions in the user's cache, the newest first. */
  installed: string[];
  /** The variable that usually holds the key of its provider, and whether it is set. */
  key: { variable: string; isSet: boolean };
  /** The file or the variable with the user's own login, for `auth: login`; `null`: none was found. */
  login: string | null;
};

/** Looks for every released agent that Whetstone drives. Starts none of them, and shows no key and no login. */
export async function agentsHere(environment: NodeJS.ProcessEnv = process.env): Promise<AgentHere[]> {
  const lookUp = findOnPath(sandboxPath(environment.PATH));
  return Promise.all(
    (Object.keys(drivenAgents) as DrivenAgentKind[]).map(async (kind) => {
      const agent = drivenAgents[kind];
      const variable = agentKeyVariable(toAgentConfig({ kind })) ?? '';
      return {
        kind,
        agent,
        onPath:
          ('module' in agent.release.entry ? moduleOfProject(agent) : await lookUp(agent.release.program)) ??
          null,
        installed: await installedVersions(agent, environment),
        key: { variable, isSet: Boolean(environment[variable]) },
        login: loginOf(agent, environment),
      };
    }),
  );
}

function loginOf({ facts: { login } }: DrivenAgent, environment: NodeJS.ProcessEnv): string | null {
  const found = login && findLogin(login, environment);
  return found && 'place' in found ? found.place : null;
}
