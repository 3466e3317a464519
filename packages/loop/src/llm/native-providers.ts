import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../profiles/provider-profile.ts';
import { withNativeResults } from './gemini-results.ts';

/** The providers whose wires are built in. */
export type NativeProvider = 'openai' | 'anthropic' | 'google';

type Settings = { baseURL?: string; apiKey?: string; headers?: Record<string, string>; fetch?: typeof fetch };

type Native = {
  /** What the provider's package calls the model's provider: in metadata, prices and events. */
  modelProvider: string;
  /** The environment variables of its key and of its base URL. */
  keys: readonly string[];
  baseUrl: string;
  /** The version segment of its addresses. */
  version: string;
  createProfile: (options: ProfileOptions) => ProviderProfile;
  /** Loads the provider's package and makes a model. */
  load: (model: string, settings: Settings) => Promise<LanguageModelV4>;
};

export const NATIVE_PROVIDERS: Readonly<Record<NativeProvider, Native>> = {
  openai: {
    modelProvider: 'openai.responses',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    version: 'v1',
    createProfile: createOpenAiProfile,
    load: async (model, settings) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(model),
  },
  anthropic: {
    modelProvider: 'anthropic.messages',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'ANTHROPIC_BASE_URL',
    version: 'v1',
    createProfile: createAnthropicProfile,
    load: async (model, settings) => (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model),
  },
  google: {
    modelProvider: 'google.generative-ai',
    keys: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
    version: 'v1beta',
    createProfile: createGeminiProfile,
    load: async (model, settings) => {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ ...settings, fetch: withNativeResults(settings.fetch ?? fetch) })(model);
    },
  },
};

export function isNativeProvider(name: string): name is NativeProvider {
  return Object.hasOwn(NATIVE_PROVIDERS, name);
}
