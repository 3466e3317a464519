import type { LanguageModelV4 } from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import { withNativeResults } from './gemini-results.ts';

export type CreateModelOptions = {
  provider: 'openai' | 'anthropic' | 'google';
  /** The provider's name for the model, for example `gpt-5.2-codex`. */
  model: string;
  /** Up to and with the version segment, for example `http://127.0.0.1:4000/v1`. Default: the provider's own. */
  baseUrl?: string;
  /** Default: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY`, read at the first call. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Stands in for the global `fetch`. */
  fetch?: typeof fetch;
};

/**
 * A model of one of the three native wires: OpenAI Responses, Anthropic Messages, Gemini generateContent. Asynchronous
 * because only the package of the asked provider is loaded.
 */
export async function createModel(options: CreateModelOptions): Promise<LanguageModelV4> {
  const settings = {
    ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl.replace(/\/+$/, '') }),
    ...present({ apiKey: options.apiKey, headers: options.headers, fetch: options.fetch }),
  };
  switch (options.provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI(settings).responses(options.model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(settings)(options.model);
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ ...settings, fetch: withNativeResults(options.fetch ?? fetch) })(options.model);
    }
  }
}
