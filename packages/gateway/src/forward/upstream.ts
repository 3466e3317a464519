import type { WireProtocol } from '../wire/neutral.ts';
import { RequestError } from '../wire/request-error.ts';
import type { KeySource } from './provider-key.ts';

/** The provider for a lane's calls on one wire. */
export type Upstream = {
  /** With `/v1` for OpenAI's wires, without a version for Anthropic and Gemini. Default: the provider's own. */
  baseUrl?: string;
  /**
   * The real key. It is read when the lane opens, and only goes into the header of upstream requests. `client`: the
   * credentials of each request, unchanged, for a client that signs in itself. Its address must have the lane's key.
   */
  key: KeySource | 'client';
};

/** The providers of a lane. A call on a wire without a provider gets 404. */
export type Upstreams = Partial<Record<WireProtocol, Upstream>>;

type ProviderApi = {
  baseUrl: string;
  keyHeader(key: string): Record<string, string>;
  path(path: string): string;
};

const openai: ProviderApi = {
  baseUrl: 'https://api.openai.com/v1',
  keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
  path: (path) => path.replace(/^\/v1(?=\/)/, ''),
};

export const providerApis: Record<WireProtocol, ProviderApi> = {
  'openai-responses': openai,
  'openai-chat-completions': openai,
  'anthropic-messages': {
    baseUrl: 'https://api.anthropic.com',
    keyHeader: (key) => ({ 'x-api-key': key }),
    path: (path) => (/^\/(v1|api)\//.test(path) ? path : `/v1${path}`),
  },
  'gemini-generate-content': {
    baseUrl: 'https://generativelanguage.googleapis.com',
    keyHeader: (key) => ({ 'x-goog-api-key': key }),
    path: (path) => (/^\/v1(beta|alpha)?\//.test(path) ? path : `/v1beta${path}`),
  },
};

/**
 * The upstream URL of a request to a lane.
 * @throws RequestError 400 for a path that leads out of the base URL.
 */
export function upstreamUrl(wire: WireProtocol, baseUrl: string, target: string): URL {
  const [path = '', query = ''] = target.split('?', 2);
  const base = new URL(baseUrl);
  const basePath = base.pathname.replace(/\/+$/, '');
  const url = new URL(base.origin);
  url.pathname = `${basePath}${providerApis[wire].path(path)}`;
  if (query !== '') {
    const parameters = new URLSearchParams(query);
    // Gemini also takes keys in the query, and the lane's key is not the provider's.
    parameters.delete('key');
    url.search = parameters.toString();
  }
  if (!url.pathname.startsWith(`${basePath}/`)) {
    throw new RequestError(400, 'The path leads out of the base URL.');
  }
  return url;
}
