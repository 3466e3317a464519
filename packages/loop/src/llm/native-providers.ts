import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject } from '@whetstone/events/json';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../profiles/provider-profile.ts';

/** The providers whose wires are built in. */
export type NativeProvider = 'openai' | 'anthropic' | 'google';

type Settings = { baseURL?: string; apiKey?: string; headers?: Record<string, string>; fetch?: typeof fetch };

type Native = {
  /** What the provider's package calls the model's provider: in metadata, prices and events. */
  modelProvider: string;
  keys: readonly string[];
  baseUrl: string;
  version: string;
  createProfile: (options: ProfileOptions) => ProviderProfile;
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

/** The package sends tool results as `{ name, content }`; the models know the API's `{ output }` and `{ error }`. */
function withNativeResults(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const body = init?.body;
    if (typeof body !== 'string' || !body.includes('"functionResponse"')) return send(input, init);
    return send(input, { ...init, body: JSON.stringify(JSON.parse(body, nativeResult)) });
  };
}

function nativeResult(key: string, value: unknown): unknown {
  if (key !== 'functionResponse' || !isJsonObject(value) || !isJsonObject(value.response)) return value;
  const { response } = value;
  if (response.name !== value.name) return value;
  if ('content' in response) return { ...value, response: { output: response.content } };
  return 'error' in response ? { ...value, response: { error: response.error } } : value;
}
