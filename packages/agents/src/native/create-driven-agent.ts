import { homedir } from 'node:os';
import { WhetstoneError } from '@whetstone/errors';
import type { WireProtocol } from '@whetstone/gateway';
import type { Agent } from '../agent.ts';
import type { AgentConfig, CliAgentConfig } from '../config.ts';
import { locateProgram, unpackedBeside } from '../install/installed-agents.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { type CliProvider, createCliAgent } from './create-native-agent.ts';
import { isCliKind } from './kinds.ts';
import { cliAgents } from './native-agents.ts';

/** Where the agents of each wire find their provider, and their key, when no gateway is there. */
const PROVIDERS: Readonly<Record<WireProtocol, { baseUrl: string; apiKeyEnv: string }>> = {
  'openai-responses': { baseUrl: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  'openai-chat-completions': { baseUrl: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  'anthropic-messages': { baseUrl: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  'gemini-generate-content': {
    baseUrl: 'https://generativelanguage.googleapis.com',
    apiKeyEnv: 'GEMINI_API_KEY',
  },
};

/** The variable that holds the key of an agent where no gateway does. */
export function cliKeyVariable(kind: AgentConfig['kind'], cli: CliAgentConfig): string | undefined {
  if (cli.apiKeyEnv !== undefined) return cli.apiKeyEnv;
  return isCliKind(kind) ? PROVIDERS[cliAgents[kind].wire].apiKeyEnv : undefined;
}

/**
 * A released command line that Whetstone drives: its program found, its provider known, before anything runs.
 *
 * @throws WhetstoneError `agent-not-installed`, `agent-key-missing`
 */
export async function createDrivenAgent(
  config: AgentConfig,
  cli: CliAgentConfig,
  environment: AgentEnvironment,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Promise<Agent> {
  const { kind } = config;
  if (!isCliKind(kind))
    throw new TypeError(`The agent ${config.name} is of no kind that is driven: ${kind}.`);
  const agent = cliAgents[kind];
  const program = await locateProgram(agent, cli.version, user.environment);
  const usesLane = user.hasLanes && leadsToGateway(config);
  const provider = usesLane ? undefined : providerOf(config, cli, user.environment);
  return createCliAgent(agent, {
    config: { ...config, cli },
    program,
    unpacked: await unpackedBeside(program),
    provider,
    environment,
    userHome: user.environment.HOME ?? homedir(),
  });
}

function providerOf(
  { name, kind }: AgentConfig,
  cli: CliAgentConfig,
  environment: NodeJS.ProcessEnv,
): CliProvider {
  const variable = cliKeyVariable(kind, cli) ?? '';
  const key = environment[variable];
  if (!key) {
    throw new WhetstoneError(
      'agent-key-missing',
      `The agent ${name} has no key for its model: ${variable} is not set.`,
      {
        exitCode: 2,
        where: `agents.${name}`,
        hint: `Set ${variable}, name another variable in \`api_key_env\`, or configure a gateway, which keeps the key to itself.`,
      },
    );
  }
  const wire = isCliKind(kind) ? cliAgents[kind].wire : 'openai-responses';
  return { baseUrl: cli.baseUrl ?? PROVIDERS[wire].baseUrl, key };
}
