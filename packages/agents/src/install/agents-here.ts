import { sandboxPath } from '@whetstone/sandbox';
import { toAgentConfig } from '../agent-options.ts';
import { findOnPath } from '../command/find-on-path.ts';
import { agentKeyVariable } from '../kit/agent-secrets.ts';
import { findLogin } from '../native/login.ts';
import type { DrivenAgent } from '../native/native-agent.ts';
import {
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  type KnownDrivenAgent,
  protocolAdapters,
} from '../native/native-agents.ts';
import { installedVersions, moduleOfProject } from './installed-agents.ts';

/** A released agent, as this machine has it. */
export type AgentHere<Kind extends string = DrivenAgentKind> = {
  kind: Kind;
  agent: DrivenAgent;
  /** Where the PATH of a sandbox has it; of an SDK, where the user's project has its module. */
  onPath: string | null;
  /** The versions in the user's cache, the newest first. */
  installed: string[];
  /** The program that an SDK starts and does not bring, where this machine has it nowhere. Default: nothing is missing. */
  missing?: string;
  /** The variable that usually holds the key of its provider, and whether it is set. */
  key: { variable: string; isSet: boolean };
  /** The file or the variable with the user's own login, for `auth: login`; `null`: none was found. */
  login: string | null;
};

/** Looks for every released agent that Whetstone drives. Starts none of them, and shows no key and no login. */
export const agentsHere = (environment: NodeJS.ProcessEnv = process.env): Promise<AgentHere[]> =>
  Promise.all(drivenAgentKinds.map((kind) => lookFor(kind, drivenAgents[kind], environment)));

/** The same for the adapters of protocols, by the name of their program, which `whetstone agents install` takes. */
export const adaptersHere = (environment: NodeJS.ProcessEnv = process.env): Promise<AgentHere<string>[]> =>
  Promise.all(protocolAdapters.map((agent) => lookFor(agent.release.program, agent, environment)));

async function lookFor<Kind extends string>(
  kind: Kind,
  agent: KnownDrivenAgent,
  environment: NodeJS.ProcessEnv,
): Promise<AgentHere<Kind>> {
  const variable = agentKeyVariable(toAgentConfig({ kind: agent.kind })) ?? '';
  const { starts } = agent.release;
  const behind = starts && (await placesOf(starts, environment));
  const isMissing = behind && behind.onPath === null && behind.installed.length === 0;
  return {
    ...{ kind, agent, ...(await placesOf(agent, environment)) },
    ...(starts && isMissing && { missing: starts.release.program }),
    key: { variable, isSet: Boolean(environment[variable]) },
    login: loginOf(agent, environment),
  };
}

async function placesOf(
  agent: DrivenAgent,
  environment: NodeJS.ProcessEnv,
): Promise<Pick<AgentHere, 'onPath' | 'installed'>> {
  const { entry, program } = agent.release;
  const find = findOnPath(sandboxPath(environment.PATH));
  return {
    onPath: ('module' in entry ? moduleOfProject(agent) : await find(program)) ?? null,
    installed: await installedVersions(agent, environment),
  };
}

function loginOf({ facts: { login } }: DrivenAgent, environment: NodeJS.ProcessEnv): string | null {
  const found = login && findLogin(login, environment);
  return found && 'place' in found ? found.place : null;
}
