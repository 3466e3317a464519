import { WhetstoneError } from '@whetstone/errors';
import type { WireProtocol } from '@whetstone/gateway';
import type { DriverAgentConfig } from '../config.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import type { DrivenAgent } from './native-agent.ts';

/** How an agent reaches its model when the run has no gateway. */
export type ModelProvider = { baseUrl: string; key: string };

/** The usual provider of each wire, and the variable that usually holds its key. */
const PROVIDERS: Readonly<Record<WireProtocol, { baseUrl: string; apiKeyEnv: string }>> = {
  'openai-responses': { baseUrl: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  'openai-chat-completions': { baseUrl: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  'anthropic-messages': { baseUrl: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  'gemini-generate-content': {
    baseUrl: 'https://generativelanguage.googleapis.com',
    apiKeyEnv: 'GEMINI_API_KEY',
  },
};

/** The address of the provider that answers, and of the one whose models they are if that address is not known. */
export const providerUrls = ({ release }: DrivenAgent, baseUrl: string | undefined): string[] => [
  ...(baseUrl === undefined ? [] : [baseUrl]),
  PROVIDERS[release.wire].baseUrl,
];

const providerOf = (config: DriverAgentConfig) => PROVIDERS[drivenAgentOf(config).release.wire];

/** The variable that holds the key of an agent when no gateway holds it. */
export const driverKeyVariable = (config: DriverAgentConfig): string =>
  config.driver.apiKeyEnv ?? providerOf(config).apiKeyEnv;

/** @throws WhetstoneError `agent-key-missing` */
export function modelProviderOf(config: DriverAgentConfig, environment: NodeJS.ProcessEnv): ModelProvider {
  const variable = driverKeyVariable(config);
  const key = environment[variable];
  if (key) return { baseUrl: config.driver.baseUrl ?? providerOf(config).baseUrl, key };
  throw new WhetstoneError(
    'agent-key-missing',
    `The agent ${config.name} has no key for its model: ${variable} is not set.`,
    {
      where: `agents.${config.name}`,
      hint: `Set ${variable}, name another variable in \`api_key_env\`, or configure a gateway, which keeps the key to itself.`,
    },
  );
}
