import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const LONGEST_RESPONSE_BYTES = 64 * 1024 * 1024;
/** JSON-RPC 2.0, section 5.1: from here on, servers define errors. */
const SERVER_ERROR = -32_000;

type Send = StreamableHTTPClientTransport['send'];

/** MCP over HTTP. A request whose HTTP answer ends without a response to it fails at once, not after its time limit. */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor(url: URL, headers: Record<string, string>) {
    super(url, { requestInit: { headers }, fetch: boundedFetch });
  }

  override send(message: Parameters<Send>[0], options?: Parameters<Send>[1]): Promise<void> {
    const id = Array.isArray(message) ? undefined : requestId(message);
    if (id === undefined) return super.send(message, options);
    // The client ignores a second response to a request, so that nobody has to know whether there was one.
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: SERVER_ERROR, message: 'its answer ended without a response' };
      this.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const requestId = (message: JSONRPCMessage): string | number | undefined =>
  'method' in message && 'id' in message ? message.id : undefined;

/** `fetch` whose responses end with an error when they are too long: a server must not fill the memory. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  // "Accepted", which is for notifications: no answer will follow.
  if (
    response.status === 202 &&
    typeof init?.body === 'string' &&
    requestId(JSON.parse(init.body)) !== undefined
  ) {
    await response.body?.cancel();
    throw new Error('it accepted a request (HTTP 202) and did not answer it');
  }
  if (!response.body) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > LONGEST_RESPONSE_BYTES)
        throw new Error(`it answered with more than ${LONGEST_RESPONSE_BYTES} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
