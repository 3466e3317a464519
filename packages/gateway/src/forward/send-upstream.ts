import { once } from 'node:events';
import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { codeOf, messageOf } from '@whetstone/errors';
import { http, https } from '../node-http.ts';
import { RequestError } from '../wire/request-error.ts';

export type UpstreamRequest = {
  url: URL;
  method: string;
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
  agent: Agent;
  signal: AbortSignal;
  /** How long the provider may stay silent, in milliseconds. */
  idleTimeoutMs: number;
};

/**
 * Sends a request and resolves with the response when its headers have arrived. Aborting the signal ends both.
 * @throws RequestError 502 when the provider cannot be reached, 504 when it stays silent.
 */
export async function sendUpstream(upstream: UpstreamRequest): Promise<IncomingMessage> {
  try {
    return await sendOnce(upstream);
  } catch (error) {
    upstream.signal.throwIfAborted();
    if (error instanceof StaleConnection) return sendUpstream(upstream);
    if (error instanceof RequestError) throw error;
    throw new RequestError(502, `The provider cannot be reached: ${messageOf(error)}`, { cause: error });
  }
}

/** The provider closed a kept connection just before it was used again, so it has not seen the request. */
class StaleConnection extends Error {}

async function sendOnce(upstream: UpstreamRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, agent, signal, idleTimeoutMs } = upstream;
  const send = url.protocol === 'https:' ? https.request : http.request;
  const request = send(url, { method, headers, agent, signal });
  request.setTimeout(idleTimeoutMs, () => {
    request.destroy(new RequestError(504, 'The provider stayed silent for too long.'));
  });
  request.end(body);
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // From here on, the response reports what happens to the request.
    request.on('error', () => {});
    return response;
  } catch (error) {
    request.on('error', () => {});
    if (request.reusedSocket && codeOf(error) === 'ECONNRESET') throw new StaleConnection();
    throw error;
  }
}
