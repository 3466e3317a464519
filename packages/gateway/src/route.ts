import type { IncomingHttpHeaders } from 'node:http';
import type { WireProtocol } from './wire/neutral.ts';

/** What a request to a lane asks for. */
export type Route =
  | { kind: 'reply'; wire: WireProtocol }
  | { kind: 'count-tokens'; wire: 'anthropic-messages' }
  | { kind: 'models' }
  /** A client's check that the server is there. */
  | { kind: 'hello' }
  /** Codex tries a WebSocket first and goes on with HTTP when it is refused. */
  | { kind: 'websocket'; wire: 'openai-responses' }
  | { kind: 'unknown' };

/** `path` is the path below the lane's base URL, without the query. Base URLs with and without `/v1` both work. */
export function route(method: string, path: string, headers: IncomingHttpHeaders): Route {
  const endpoint = path.replace(/^\/v1(?=\/)/, '').replace(/\/+$/, '');
  switch (`${method} ${endpoint}`) {
    case 'POST /responses':
      return { kind: 'reply', wire: 'openai-responses' };
    case 'GET /responses':
      return headers.upgrade?.toLowerCase() === 'websocket'
        ? { kind: 'websocket', wire: 'openai-responses' }
        : { kind: 'unknown' };
    case 'POST /messages':
      return { kind: 'reply', wire: 'anthropic-messages' };
    case 'POST /messages/count_tokens':
      return { kind: 'count-tokens', wire: 'anthropic-messages' };
    case 'GET /models':
      return { kind: 'models' };
    case 'GET /api/hello':
    case 'HEAD /api/hello':
      return { kind: 'hello' };
    default:
      return { kind: 'unknown' };
  }
}

/** The provider whose error shape a client understands, for answers to paths that belong to no wire. */
export function likelyWire(path: string, headers: IncomingHttpHeaders): WireProtocol {
  const anthropic = path.includes('/messages') || 'anthropic-version' in headers || 'x-api-key' in headers;
  return anthropic ? 'anthropic-messages' : 'openai-responses';
}
