import type { LanguageModelV4 } from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import { NATIVE_PROVIDERS, type NativeProvider } from './native-providers.ts';

export type CreateModelOptions = {
  provider: NativeProvider;
  /** The provider's name for the model, for example `gpt-5.2-codex`. */
  model: string;
  /** Up to and with the version segment, for example `http://127.0.0.1:4000/v1`. Default: the provider's own. */
  baseUrl?: string;
  /** Default: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY`, read at the first call. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
};

/** A model of a native wire: OpenAI Responses, Anthropic Messages or Gemini generateContent. Loads only its package. */
export async function createModel(options: CreateModelOptions): Promise<LanguageModelV4> {
  const { provider, model, baseUrl, apiKey, headers, fetch } = options;
  const baseURL = baseUrl?.replace(/\/+$/, '');
  return await NATIVE_PROVIDERS[provider].load(model, present({ baseURL, apiKey, headers, fetch }));
}

/** A model whose package is loaded at its first call. `baseUrl` may lack the version segment, which the packages want. */
export function lazyModel({ baseUrl, ...options }: CreateModelOptions): LanguageModelV4 {
  const { modelProvider, version } = NATIVE_PROVIDERS[options.provider];
  const trimmed = baseUrl?.replace(/\/+$/, '');
  const versioned = trimmed === undefined || /\/v\d+\w*$/.test(trimmed) ? trimmed : `${trimmed}/${version}`;
  let loaded: Promise<LanguageModelV4> | undefined;
  const load = () => {
    loaded ??= createModel({ ...options, ...present({ baseUrl: versioned }) });
    return loaded;
  };
  return {
    specificationVersion: 'v4',
    provider: modelProvider,
    modelId: options.model,
    get supportedUrls() {
      return load().then((model) => model.supportedUrls);
    },
    doGenerate: async (call) => await (await load()).doGenerate(call),
    doStream: async (call) => await (await load()).doStream(call),
  };
}
