import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../profiles/provider-profile.ts';
import { lazyModel } from './create-model.ts';
import { classifyLlmError, LlmError } from './llm-error.ts';
import { isNativeProvider, NATIVE_PROVIDERS } from './native-providers.ts';

/** A provider that the host brings: its models, and the profile for them. */
export type ClientProvider = {
  /** Makes a model. Must not call it. */
  languageModel(modelId: string): LanguageModelV4;
  /** Default: the profile for OpenAI models. */
  createProfile?(options: ProfileOptions): ProviderProfile;
};

/** How a built-in provider is reached. */
export type ProviderSettings = {
  /** With or without the version segment. Default: the provider's own. */
  baseUrl?: string;
  /** Default: the environment variable that the provider's own tools read, at the first call. */
  apiKey?: string;
  /** Added to each request. */
  headers?: Record<string, string>;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
};

export type ClientOptions = {
  /** By the name before the slash: settings for `openai`, `anthropic` and `google`, else a provider of the host. */
  providers: Readonly<Record<string, ProviderSettings | ClientProvider>>;
  /** The provider of model names without a slash. Default: the provider where there is only one, else none. */
  defaultProvider?: string;
};

/** A model and the profile that suits it: two options of a `Session`. */
export type ModelAndProfile = { model: LanguageModelV4; profile: ProviderProfile };

/** One call of a model. `model` is `provider/model`. */
export type ClientRequest = LanguageModelV4CallOptions & { model: string };

/**
 * Finds models of several providers by name, as `provider/model` (the LLM client of the loop spec). It never guesses a
 * provider, and never retries a call: the loop does. Every failure is an `LlmError`.
 */
export class Client {
  readonly #providers: ReadonlyMap<string, ClientProvider>;
  readonly #defaultProvider: string | undefined;

  /** Throws an `LlmError` with code `model-configuration-invalid` for settings of a provider that is not built in. */
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
   * `GOOGLE_GENERATIVE_AI_API_KEY`, and `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` where they
   * are set. The first of them, in this order, is the default.
   */
  static fromEnv(environment: Readonly<Record<string, string | undefined>> = process.env): Client {
    const providers = providersOf(environment);
    const [defaultProvider] = Object.keys(providers);
    return new Client({ providers, ...present({ defaultProvider }) });
  }

  get providers(): string[] {
    return [...this.#providers.keys()];
  }

  /**
   * A model by name. Loads nothing yet. Throws an `LlmError` for a provider that is not configured: `model-key-missing`
   * where it is built in, else `model-configuration-invalid`. A model whose own name has a slash needs its provider in
   * front, as in `openrouter/vendor/model`.
   */
  model(name: string): LanguageModelV4 {
    const { provider, modelId } = this.#route(name);
    return provider.languageModel(modelId);
  }

  /** A model with its profile, for `new Session({ ...client.resolve('openai/gpt-5.5'), environment })`. */
  resolve(name: string, options: Omit<ProfileOptions, 'model'> = {}): ModelAndProfile {
    const { provider, modelId } = this.#route(name);
    const createProfile = provider.createProfile ?? createOpenAiProfile;
    return {
      model: provider.languageModel(modelId),
      profile: createProfile({ ...options, model: modelId }),
    };
  }

  /** Calls a model and resolves with its whole reply. Rejects with an `LlmError`. */
  async complete({ model, ...options }: ClientRequest): Promise<LanguageModelV4GenerateResult> {
    return await typed(options, () => this.model(model).doGenerate(options));
  }

  /** Calls a model and streams its reply. Rejects with an `LlmError`; later failures are parts of the stream. */
  async stream({ model, ...options }: ClientRequest): Promise<LanguageModelV4StreamResult> {
    return await typed(options, () => this.model(model).doStream(options));
  }

  #route(name: string): { provider: ClientProvider; modelId: string } {
    if (!/[^/]$/.test(name))
      throw new LlmError(
        'model-configuration-invalid',
        `There is no model in ${JSON.stringify(name)}. Write provider/model. ${this.#configured}`,
      );
    const slash = name.indexOf('/');
    if (slash === 0)
      throw new LlmError(
        'model-configuration-invalid',
        `There is no provider in ${JSON.stringify(name)}. Write provider/model. ${this.#configured}`,
      );
    if (slash > 0) return { provider: this.#provider(name.slice(0, slash)), modelId: name.slice(slash + 1) };
    if (this.#defaultProvider === undefined)
      throw new LlmError(
        'model-configuration-invalid',
        `No provider is known for model ${JSON.stringify(name)}. Write provider/model. ${this.#configured}`,
      );
    return { provider: this.#provider(this.#defaultProvider), modelId: name };
  }

  #provider(name: string): ClientProvider {
    const provider = this.#providers.get(name);
    if (provider) return provider;
    if (isNativeProvider(name)) {
      const [variable] = NATIVE_PROVIDERS[name].keys;
      const message = `Provider ${name} is not configured. Set ${variable} for Client.fromEnv(), or pass settings for ${name}.`;
      throw new LlmError('model-key-missing', `${message} ${this.#configured}`);
    }
    const candidates = [...new Set([...this.providers, ...Object.keys(NATIVE_PROVIDERS)])];
    const meant = didYouMean(name, candidates);
    const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
    const message = `There is no provider ${JSON.stringify(name)}.${question} ${this.#configured}`;
    throw new LlmError('model-configuration-invalid', message, {
      hint: 'Write provider/model. A model whose own name has a slash needs its provider in front, too.',
    });
  }

  get #configured(): string {
    if (this.providers.length > 0) return `Configured providers: ${this.providers.join(', ')}.`;
    const variables = Object.values(NATIVE_PROVIDERS).map(({ keys: [first] }) => first);
    return `Configured providers: none. For Client.fromEnv(), set one of ${variables.join(', ')}.`;
  }
}

function builtIn(name: string, settings: ProviderSettings): ClientProvider {
  if (!isNativeProvider(name)) {
    const message = `Provider ${name} is not built in: pass its \`languageModel\`.`;
    throw new LlmError('model-configuration-invalid', message);
  }
  return {
    languageModel: (model) => lazyModel({ ...settings, provider: name, model }),
    createProfile: NATIVE_PROVIDERS[name].createProfile,
  };
}

/** The settings of each built-in provider whose key is set. */
function providersOf(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, ProviderSettings> {
  const found: Record<string, ProviderSettings> = {};
  for (const [name, { keys, baseUrl: variable }] of Object.entries(NATIVE_PROVIDERS)) {
    const apiKey = keys.map((key) => environment[key]).find(Boolean);
    const baseUrl = environment[variable];
    if (apiKey) found[name] = { apiKey, ...(baseUrl && { baseUrl }) };
  }
  return found;
}

async function typed<T>({ abortSignal }: LanguageModelV4CallOptions, call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw classifyLlmError(error, abortSignal ?? new AbortController().signal);
  }
}
