import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createModel } from '../llm/create-model.ts';
import type { NativeProvider } from '../llm/native-providers.ts';

/** A model of each provider whose rules for a history are strict: they want their reasoning back. */
export const MODELS: Readonly<Record<NativeProvider, string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5.2',
  google: 'gemini-3-pro-preview',
};

const models = new Map<NativeProvider, Promise<LanguageModelV4>>();
let body = '';
const captured = new Error('the request is captured');

function captureFrom(provider: NativeProvider): Promise<LanguageModelV4> {
  const capture: typeof fetch = (_input, init) => {
    body = String(init?.body);
    return Promise.reject(captured);
  };
  const model = createModel({ provider, model: MODELS[provider], apiKey: 'none', fetch: capture });
  models.set(provider, model);
  return model;
}

/** The body that a provider gets for a request, without its tools. Nothing is sent. One call at a time. */
export async function wireBody(
  provider: NativeProvider,
  { abortSignal: _, tools: __, toolChoice: ___, ...options }: LanguageModelV4CallOptions,
): Promise<Record<string, unknown>> {
  const model = await (models.get(provider) ?? captureFrom(provider));
  await Promise.resolve(model.doStream(options)).catch((error: unknown) => {
    if (error !== captured) throw error;
  });
  return JSON.parse(body);
}
