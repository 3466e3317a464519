import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject, parseJson } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import { LlmError } from './llm-error.ts';
import { NATIVE_PROVIDERS, type NativeProvider } from './native-providers.ts';

export type CreateModelOptions = {
  provider: NativeProvider;
  /** The provider's name for the model, for example `gpt-5.2-codex`. */
  model: string;
  /** Up to and with the version segment, for example `http://127.0.0.1:4000/v1`. Default: the provider's own. */
  baseUrl?: string;
  /** Default: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, or `GEMINI_API_KEY` and else `GOOGLE_GENERATIVE_AI_API_KEY`. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
};

/** A model of a native wire: OpenAI Responses, Anthropic Messages or Gemini generateContent. Loads only its package. */
export async function createModel(options: CreateModelOptions): Promise<LanguageModelV4> {
  const { provider, model, baseUrl, apiKey, headers } = options;
  const { load } = NATIVE_PROVIDERS[provider];
  const baseURL = baseUrl?.replace(/\/+$/, '');
  // The package of Google knows only one of the two variables.
  const key = apiKey ?? keyOf(provider);
  return await load(model, present({ baseURL, apiKey: key, headers, fetch: guarded(options.fetch) }));
}

/**
 * `fetch` would follow a redirect to any host, with the keys that are not in the header `authorization`. And the
 * packages find no event in an error that a gateway sends as JSON with status 200 in place of a stream.
 */
function guarded(send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    if (!response.ok || !/^application\/json\b/i.test(response.headers.get('content-type') ?? ''))
      return response;
    const responseBody = await response.clone().text();
    const body = parseJson(responseBody);
    if (!isJsonObject(body) || !body.error) return response;
    const code = isJsonObject(body.error) ? Number(body.error.code) : Number.NaN;
    throw Object.assign(new Error(), {
      responseBody,
      ...(code >= 400 && code < 600 && { statusCode: code }),
    });
  };
}

const keyOf = (provider: NativeProvider): string | undefined =>
  NATIVE_PROVIDERS[provider].keys.map((name) => process.env[name]).find(Boolean);

/** A model whose package is loaded at its first call. `baseUrl` may lack the version segment, which the packages want. */
export function lazyModel({ baseUrl, ...options }: CreateModelOptions): LanguageModelV4 {
  const { modelProvider, version } = NATIVE_PROVIDERS[options.provider];
  const trimmed = baseUrl?.replace(/\/+$/, '');
  const versioned = trimmed === undefined || /\/v\d+\w*$/.test(trimmed) ? trimmed : `${trimmed}/${version}`;
  let loaded: Promise<LanguageModelV4> | undefined;
  const load = () => {
    const { provider, apiKey = keyOf(provider) } = options;
    if (!apiKey) {
      const variables = NATIVE_PROVIDERS[provider].keys.join(' or ');
      throw new LlmError(
        'model-key-missing',
        `Provider ${provider} has no API key. Set ${variables}, or pass apiKey.`,
      );
    }
    loaded ??= createModel({ ...options, ...present({ baseUrl: versioned }) });
    return loaded;
  };
  return {
    specificationVersion: 'v4',
    provider: modelProvider,
    modelId: options.model,
    get supportedUrls() {
      return createModel({ ...options, apiKey: 'none' }).then((model) => model.supportedUrls);
    },
    doGenerate: async (call) => await (await load()).doGenerate(call),
    doStream: async (call) => await (await load()).doStream(call),
  };
}
