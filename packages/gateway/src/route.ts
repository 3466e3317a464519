import type { IncomingHttpHeaders } from 'node:http';
import { endpointOf } from './endpoints.ts';
import type { RequestTarget, WireProtocol } from './wire/neutral.ts';

/** What a request to a lane asks for. */
export type Route =
  /** `asList`: the client reads a JSON array of responses (Gemini's stream without `alt=sse`). */
  | { kind: 'reply'; wire: WireProtocol; target?: RequestTarget; asList?: boolean }
  | {
      kind: 'count-tokens';
      wire: 'anthropic-messages' | 'gemini-generate-content';
      target?: RequestTarget;
    }
  /** OpenAI's token count, which the gateway only passes on. */
  | { kind: 'responses-tokens' }
  | { kind: 'models' }
  /** What is known of one model. */
  | { kind: 'model' }
  /** A client's check that the server is up. */
  | { kind: 'hello' }
  /** Codex tries a WebSocket first, and uses HTTP when that is refused. */
  | { kind: 'websocket'; wire: 'openai-responses' }
  /** GitHub's tools, which it serves beside its models. */
  | { kind: 'provider-mcp' }
  /** `endpoint`: as `endpointOf` reads it. */
  | { kind: 'other'; endpoint: string | undefined };

/** `target` is the path and query below the lane's base URL. Base URLs work with and without `/v1`. */
export function route(method: string, target: string, headers: IncomingHttpHeaders): Route {
  const [path = '', query = ''] = target.split('?', 2);
  const endpoint = endpointOf(path);
  if (endpoint === undefined) return { kind: 'other', endpoint };
  const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket';
  if (isWebSocket && method === 'GET' && /^(\/codex)?\/responses$/.test(endpoint)) {
    return { kind: 'websocket', wire: 'openai-responses' };
  }
  const gemini = method === 'POST' ? geminiRoute(endpoint, query) : undefined;
  const known = routes[`${method} ${endpoint}`] ?? gemini;
  if (known) return known;
  if (method === 'GET' && /^\/models\/[^/]+$/.test(endpoint)) return { kind: 'model' };
  return /^\/mcp(\/|$)/.test(endpoint) ? { kind: 'provider-mcp' } : { kind: 'other', endpoint };
}

const routes: Record<string, Route> = {
  'POST /responses': { kind: 'reply', wire: 'openai-responses' },
  // Of ChatGPT, for Codex with a login.
  'POST /codex/responses': { kind: 'reply', wire: 'openai-responses' },
  'POST /chat/completions': { kind: 'reply', wire: 'openai-chat-completions' },
  'POST /messages': { kind: 'reply', wire: 'anthropic-messages' },
  'POST /messages/count_tokens': { kind: 'count-tokens', wire: 'anthropic-messages' },
  'POST /responses/input_tokens': { kind: 'responses-tokens' },
  'GET /models': { kind: 'models' },
  'GET /codex/models': { kind: 'models' },
  'GET /api/hello': { kind: 'hello' },
  'HEAD /api/hello': { kind: 'hello' },
};

/** Of Gemini, and of Vertex AI. */
const GEMINI_CALL =
  /^(?:(?:\/projects\/[^/]+\/locations\/[^/]+)?\/publishers\/[^/]+)?\/models\/([^/:]+):(\w+)$/;

function geminiRoute(endpoint: string, query: string): Route | undefined {
  const [, model = '', action] = GEMINI_CALL.exec(endpoint) ?? [];
  const wire = 'gemini-generate-content';
  switch (action) {
    case 'generateContent':
      return { kind: 'reply', wire, target: { model } };
    case 'streamGenerateContent':
      return new URLSearchParams(query).get('alt') === 'sse'
        ? { kind: 'reply', wire, target: { model, stream: true } }
        : { kind: 'reply', wire, target: { model }, asList: true };
    case 'countTokens':
      return { kind: 'count-tokens', wire, target: { model } };
    default:
      return undefined;
  }
}

/** The wire whose error shape a client probably understands, for paths that belong to no wire. */
export function likelyWire(target: string, headers: IncomingHttpHeaders): WireProtocol {
  if (target.includes('/messages') || 'anthropic-version' in headers || 'x-api-key' in headers) {
    return 'anthropic-messages';
  }
  if (/\/v1(beta|alpha)\/|:\w+($|\?)/.test(target) || 'x-goog-api-key' in headers) {
    return 'gemini-generate-content';
  }
  return target.includes('/chat/') ? 'openai-chat-completions' : 'openai-responses';
}
