import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { maskKeyInText } from './mask-key.ts';

/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const connectionHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that are the agent's own secrets, or that the gateway sets itself. */
const requestOnly = new Set([
  'accept-encoding',
  'api-key',
  'authorization',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-api-key',
  'x-goog-api-key',
  // Would make another method of the one that was checked.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** The headers of a request that may go upstream, without any that carries the lane's key. */
export function upstreamHeaders(headers: IncomingHttpHeaders, laneKey: string): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name, value]) =>
      !connectionHeaders.has(name) &&
      !requestOnly.has(name) &&
      !/^x-(forwarded|whetstone)-/.test(name) &&
      !String(value).includes(laneKey),
  );
  return Object.fromEntries(kept);
}

const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;

/** The client's own credentials, for a provider that it signs in to itself; `secret` is what must not come back. */
export function clientCredentials(
  headers: IncomingHttpHeaders,
  laneKey: string,
): { headers: OutgoingHttpHeaders; secret: string } | undefined {
  const given = CREDENTIALS.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' && value !== '' && !value.includes(laneKey)
      ? [[name, value] as const]
      : [];
  });
  const [first] = given;
  if (!first) return undefined;
  return { headers: Object.fromEntries(given), secret: first[1].replace(/^\w+ +/, '') };
}

const responseOnly = new Set(['alt-svc', 'set-cookie', 'strict-transport-security']);

/** The headers of a response that may go to the agent; `decoded`: the gateway has removed the body's encoding. */
export function agentHeaders(
  headers: IncomingHttpHeaders,
  key: string,
  decoded: boolean,
): OutgoingHttpHeaders {
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || connectionHeaders.has(name) || responseOnly.has(name)) return [];
    if (decoded && (name === 'content-encoding' || name === 'content-length')) return [];
    return [[name, Array.isArray(value) ? value : maskKeyInText(value, key)]];
  });
  return Object.fromEntries(kept);
}
