/** A provider. If several variables have the same purpose, the first one that is set counts. */
import { present } from '@whetstone/events/present';

type Provider = {
  /** Its name in the loop's client. */
  client: 'openai' | 'anthropic' | 'google';
  keyVariables: readonly string[];
  baseUrlVariables: readonly string[];
  modelVariable: string;
  defaultModel: string;
};

export const providers = {
  openai: {
    client: 'openai',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrlVariables: ['OPENAI_BASE_URL'],
    modelVariable: 'OPENAI_MODEL',
    defaultModel: 'gpt-5.5',
  },
  anthropic: {
    client: 'anthropic',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrlVariables: ['ANTHROPIC_BASE_URL'],
    modelVariable: 'ANTHROPIC_MODEL',
    defaultModel: 'claude-opus-4-8',
  },
  gemini: {
    client: 'google',
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    baseUrlVariables: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
    modelVariable: 'GEMINI_MODEL',
    defaultModel: 'gemini-3-pro-preview',
  },
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof providers;
export const providerNames = Object.keys(providers) as ProviderName[];

/** A provider with its key, and the model to use. */
export type Endpoint = {
  name: ProviderName;
  client: Provider['client'];
  model: string;
  apiKey: string;
  baseUrl?: string;
};

/** `undefined` when the environment has no key for the provider. */
export function endpointOf(
  name: ProviderName,
  environment: NodeJS.ProcessEnv,
  model: string | undefined,
): Endpoint | undefined {
  const provider: Provider = providers[name];
  const first = (variables: readonly string[]) =>
    variables.map((variable) => environment[variable]).find((value) => value);
  const apiKey = first(provider.keyVariables);
  if (apiKey === undefined) return undefined;
  const baseUrl = first(provider.baseUrlVariables);
  return {
    name,
    client: provider.client,
    model: model ?? first([provider.modelVariable]) ?? provider.defaultModel,
    apiKey,
    ...present({ baseUrl }),
  };
}
