import { commandParts } from '../command/command-template.ts';
import type { AgentConfig } from '../config.ts';
import { attachedServer } from '../native/attached-server.ts';
import { loginUpstreams } from '../native/login.ts';

/** Text in a command or a variable that points a program at the gateway. */
const MENTION = /\{gateway_url\}|WHETSTONE_GATEWAY_URL|\w+_BASE_URL/;

const mentions = (word: string): boolean => MENTION.test(word);

/** Kinds whose program reads the variables that a lane sets. A custom program might, so it counts too. */
const READS_VARIABLES: ReadonlySet<AgentConfig['kind']> = new Set(['claude-code', 'custom']);

/** Whether an agent's model calls go through the gateway when the run has one. */
export function leadsToGateway(agent: AgentConfig): boolean {
  switch (agent.runner) {
    case 'loop':
      return agent.loop.baseUrl === undefined;
    case 'driver':
      if (attachedServer(agent) !== undefined) return false;
      return agent.driver.auth === 'login'
        ? loginUpstreams(agent) !== undefined
        : agent.driver.baseUrl === undefined;
    case 'module':
      return true;
    case 'command': {
      const { kind, command, resumeCommand, env } = agent;
      if (READS_VARIABLES.has(kind) || Object.entries(env).flat().some(mentions)) return true;
      const commands = [command, ...(resumeCommand ? [resumeCommand] : [])];
      return commands.every((one) => commandParts(one).some(mentions));
    }
  }
}
