import type { WireProtocol } from '../wire/neutral.ts';
import { RequestError } from '../wire/request-error.ts';
import type { KeySource } from './provider-key.ts';

/** The provider for a lane's calls on one wire. */
export type Upstream = {
  /**
   * The base URL as a client of that wire is given it: with `/v1` for OpenAI's wires, without a version for Anthropic
   * and Gemini. Default: the provider's own.
   */
  baseUrl?: string;
  /** The real key. It is read when the lane opens, and only goes into the header of upstream requests. */
  key: KeySource;
};

/** The providers of a lane. A call on a wire without a provider gets 404. */
export type Upstreams = Partial<Record<WireProtocol, Upstream>>;

export const defaultBaseUrls: Record<WireProtocol, string> = {
  'openai-responses': 'https://api.openai.com/v1',
  'openai-chat-completions': 'https://api.openai.com/v1',
  'anthropic-messages': 'https://api.anthropic.com',
  'gemini-generate-content': 'https://generativelanguage.googleapis.com',
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
  url.pathname = `${basePath}${versionedPath(wire, path)}`;
  const parameters = new URLSearchParams(query);
  // Gemini also takes keys in the query, and the lane's key is not the provider's.
  parameters.delete('key');
  url.search = parameters.toString();
  if (!url.pathname.startsWith(`${basePath}/`)) {
    throw new RequestError(400, 'The path leads out of the base URL.');
  }
  return url;
}

function versionedPath(wire: WireProtocol, path: string): string {
  switch (wire) {
    case 'openai-responses':
    case 'openai-chat-completions':
      return path.replace(/^\/v1(?=\/)/, '');
    case 'anthropic-messages':
      return /^\/(v1|api)\//.test(path) ? path : `/v1${path}`;
    case 'gemini-generate-content':
      return /^\/v1(beta|alpha)?\//.test(path) ? path : `/v1beta${path}`;
  }
}

/** The header in which a provider expects its key. */
export function keyHeader(wire: WireProtocol, key: string): Record<string, string> {
  switch (wire) {
    case 'openai-responses':
    case 'openai-chat-completions':
      return { authorization: `Bearer ${key}` };
    case 'anthropic-messages':
      return { 'x-api-key': key };
    case 'gemini-generate-content':
      return { 'x-goog-api-key': key };
  }
}
