import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../profiles/provider-profile.ts';
import { LazyModel } from './lazy-model.ts';
import { classifyLlmError, LlmError } from './llm-error.ts';
import { nativeProvider, providersOf } from './native-providers.ts';

/** How models of one provider are reached, and what suits them. */
export type ClientProvider = {
  languageModel(modelId: string): LanguageModelV4;
  /** Default: the profile for OpenAI models. */
  createProfile?(options: ProfileOptions): ProviderProfile;
};

/** How one of the three native wires is reached. */
export type ProviderSettings = {
  /** With or without the version segment. Default: the provider's own. */
  baseUrl?: string;
  /** Default: the provider's usual variable, read at the first call. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Stands in for the global `fetch`. */
  fetch?: typeof fetch;
};

export type ClientOptions = {
  /** By the name that stands before the slash. Settings for `openai`, `anthropic` and `google`; anything else is yours. */
  providers: Readonly<Record<string, ProviderSettings | ClientProvider>>;
  /** Of names without a slash. Default: the only provider, and none where there are several. */
  defaultProvider?: string;
};

/** A model with the profile for it: the two options of a `Session` that belong together. */
export type ModelAndProfile = { model: LanguageModelV4; profile: ProviderProfile };

/** One call of one model, by its routed name. */
export type ClientRequest = LanguageModelV4CallOptions & { model: string };

/**
 * Finds models by name, `provider/model`, among several providers (the LLM client of the loop spec). It never guesses a
 * provider and never retries: the loop does that. What goes wrong is an `LlmError`.
 */
export class Client {
  readonly #providers: ReadonlyMap<string, ClientProvider>;
  readonly #defaultProvider: string | undefined;

  /** Throws an `LlmError` `configuration` for settings of a provider that is not built in. */
  constructor({ providers, defaultProvider }: ClientOptions) {
    this.#providers = new Map(
      Object.entries(providers).map(([name, given]) => [
        name,
        'languageModel' in given ? given : builtIn(name, given),
      ]),
    );
    this.#defaultProvider = defaultProvider ?? (this.#providers.size === 1 ? this.providers[0] : undefined);
    if (defaultProvider !== undefined) this.#provider(defaultProvider);
  }

  /**
   * Every built-in provider whose key is set: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` or
   * `GOOGLE_GENERATIVE_AI_API_KEY`, and `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` where they are
   * set. The first of them, in this order, is the default.
   */
  static fromEnv(environment: Readonly<Record<string, string | undefined>> = process.env): Client {
    const providers = providersOf(environment);
    const [defaultProvider] = Object.keys(providers);
    return new Client({ providers, ...present({ defaultProvider }) });
  }

  /** Their names, in the order in which they were given. */
  get providers(): string[] {
    return [...this.#providers.keys()];
  }

  /** Throws an `LlmError` `configuration` for a name that leads nowhere. Nothing is loaded before the first call. */
  model(name: string): LanguageModelV4 {
    const { provider, modelId } = this.#route(name);
    return provider.languageModel(modelId);
  }

  /** For `new Session({ ...client.resolve('openai/gpt-5.5'), environment })`, and as `subagents.resolveModel`. */
  resolve(name: string, options: Omit<ProfileOptions, 'model'> = {}): ModelAndProfile {
    const { provider, modelId } = this.#route(name);
    const createProfile = provider.createProfile ?? createOpenAiProfile;
    return {
      model: provider.languageModel(modelId),
      profile: createProfile({ ...options, model: modelId }),
    };
  }

  /** One whole reply. Rejects with an `LlmError`. */
  async complete({ model, ...options }: ClientRequest): Promise<LanguageModelV4GenerateResult> {
    return await typed(options, () => this.model(model).doGenerate(options));
  }

  /** One reply as it comes. Rejects with an `LlmError`; what fails later is a part of the stream. */
  async stream({ model, ...options }: ClientRequest): Promise<LanguageModelV4StreamResult> {
    return await typed(options, () => this.model(model).doStream(options));
  }

  #route(name: string): { provider: ClientProvider; modelId: string } {
    const slash = name.indexOf('/');
    // A model's own name may have a slash: only a known provider before it counts.
    const prefix = slash > 0 ? name.slice(0, slash) : undefined;
    if (prefix !== undefined && this.#providers.has(prefix))
      return { provider: this.#provider(prefix), modelId: name.slice(slash + 1) };
    if (this.#defaultProvider === undefined)
      throw new LlmError(
        'configuration',
        `No provider for the model ${JSON.stringify(name)}. Write provider/model; there are: ${this.#known}.`,
      );
    return { provider: this.#provider(this.#defaultProvider), modelId: name };
  }

  #provider(name: string): ClientProvider {
    const provider = this.#providers.get(name);
    if (provider) return provider;
    throw new LlmError('configuration', `There is no provider ${name}; there are: ${this.#known}.`);
  }

  get #known(): string {
    return this.providers.join(', ') || 'none, because no key of a provider is set';
  }
}

const PROFILES = {
  openai: createOpenAiProfile,
  anthropic: createAnthropicProfile,
  google: createGeminiProfile,
};

function builtIn(name: string, settings: ProviderSettings): ClientProvider {
  const provider = nativeProvider(name);
  if (!provider)
    throw new LlmError('configuration', `The provider ${name} is not built in: give it a languageModel.`);
  return {
    languageModel: (modelId) => new LazyModel(provider, modelId, settings),
    createProfile: PROFILES[provider],
  };
}

async function typed<T>({ abortSignal }: LanguageModelV4CallOptions, call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw classifyLlmError(error, abortSignal ?? new AbortController().signal);
  }
}
