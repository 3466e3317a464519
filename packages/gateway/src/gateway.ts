import { once } from 'node:events';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type Budget, openBudget, type Spent } from './budget.ts';
import type { PriceOf } from './call-price.ts';
import { GatewayError } from './gateway-error.ts';
import { giveBackMemory } from './give-back-memory.ts';
import { type Lane, type LaneOptions, openLane, type ServedLane } from './lane.ts';
import { http } from './node-http.ts';
import type { RateOptions } from './rate/concurrency-limit.ts';
import { openRate } from './rate/turns.ts';
import { likelyWire } from './route.ts';
import { providerError } from './wire/provider-error.ts';
import { RequestError } from './wire/request-error.ts';

export type GatewayOptions = {
  /** The address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Largest request body, compressed and decompressed, in bytes; default 64 MiB. A larger one gets 413. */
  maxBodyBytes?: number;
  /** Longest time that a request may take to arrive, in milliseconds; default 5 minutes. A slower one gets 408. */
  requestTimeoutMs?: number;
  /** Longest time that a client may leave an answer unread, in milliseconds; default 5 minutes. Then its call ends. */
  unreadTimeoutMs?: number;
  /** Limits for all lanes together. */
  budget?: Budget;
  /** What was used of `budget` before, of its time apart. Default: nothing. */
  used?: Partial<Spent>;
  /** How many calls to one provider may be under way at once, over all lanes; `false`: any number. */
  rate?: RateOptions | false;
  /** Prices a model call. Default: the list price (`@whetstone/events/price-list`) of the provider that the call goes to. */
  priceOf?: PriceOf;
  /** Called with each provider's key that a lane reads, so that it can be kept out of logs. */
  onKey?: (key: string) => void;
};

/** A model gateway: an HTTP server with a lane for each running agent. */
export type Gateway = {
  /** `http://HOST:PORT` */
  url: string;
  /** Serves a connection that was made elsewhere: one of a network that leads nowhere but here. */
  accept(socket: Socket): void;
  /** @throws GatewayError `gateway-closed`, `ledger-unwritable`, `exchanges-unwritable` */
  open(options: LaneOptions): Promise<Lane>;
  /** Closes every lane, ends every connection and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const defaultMaxBodyBytes = 64 * 1024 * 1024;
const fiveMinutes = 5 * 60_000;

/**
 * Starts a gateway.
 * @throws GatewayError `gateway-listen-failed`
 */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { host = '127.0.0.1', port = 0, maxBodyBytes = defaultMaxBodyBytes } = options;
  const { requestTimeoutMs = fiveMinutes, unreadTimeoutMs = fiveMinutes } = options;
  const budget = openBudget(options.budget, { isShared: true, ...present({ used: options.used }) });
  const rate = openRate(options.rate);
  const lanes = new Map<string, ServedLane>();
  // An agent makes no call while a tool runs, and then uses the connection again. Closing it would reset some calls.
  const connections = { keepAliveTimeout: 10 * 60_000, ...headTimeout(requestTimeoutMs) };
  const beginCall = giveBackMemory();
  const server = http.createServer(connections, (request, response) => {
    void dispatch(request, response, lanes).finally(beginCall());
  });
  const url = await listen(server, host, port);
  let closed: Promise<void> | undefined;

  async function open(laneOptions: LaneOptions): Promise<Lane> {
    const served = await openLane(laneOptions, {
      gatewayUrl: url,
      host,
      clientLimits: {
        body: { maxBytes: maxBodyBytes, maxMs: requestTimeoutMs },
        maxUnreadMs: unreadTimeoutMs,
      },
      budget,
      priceOf: options.priceOf,
      onKey: options.onKey,
      rate,
      onClose: (id) => lanes.delete(id),
    });
    if (closed) {
      await served.lane.close();
      throw new GatewayError('gateway-closed', 'The gateway is closed and opens no more lanes.');
    }
    lanes.set(served.lane.id, served);
    return served.lane;
  }

  async function end(): Promise<void> {
    const stopped = once(server, 'close');
    server.close();
    const lanesClosed = await Promise.allSettled([...lanes.values()].map(({ lane }) => lane.close()));
    server.closeAllConnections();
    await stopped;
    const failure = lanesClosed.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
  }

  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  const accept = (socket: Socket): void => {
    if (closed) socket.destroy();
    else server.emit('connection', socket);
  };
  return { url, accept, open, close, [Symbol.asyncDispose]: close };
}

/** Before a request's head has arrived, no lane knows about the request, so the server itself measures the time. */
const headTimeout = (requestTimeoutMs: number): ServerOptions => ({
  headersTimeout: Math.min(60_000, requestTimeoutMs),
  // A lane measures the bodies that it reads, and reports a slow one to client and ledger. This limit is for all others.
  requestTimeout: 2 * requestTimeoutMs,
  connectionsCheckingInterval: Math.min(30_000, Math.ceil(requestTimeoutMs / 4)),
});

async function listen(server: Server, host: string, port: number): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const message = `The gateway cannot listen on ${host}, port ${port}: ${messageOf(error)}`;
    throw new GatewayError('gateway-listen-failed', message, { cause: error });
  }
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${boundPort}`;
}

async function dispatch(
  request: IncomingMessage,
  response: ServerResponse,
  lanes: ReadonlyMap<string, ServedLane>,
): Promise<void> {
  const target = request.url ?? '/';
  try {
    const [, id = '', key, laneTarget = '/'] = /^\/lanes\/([^/?.]+)(?:\.([^/?]+))?(.*)?$/.exec(target) ?? [];
    const served = lanes.get(id);
    if (!served)
      throw new RequestError(404, 'There is no such lane, or it is closed. Use the base URL of a lane.');
    await served.serve(request, response, { target: laneTarget || '/', ...present({ key }) });
  } catch (error) {
    refuse(error, target, request, response);
  }
}

/** Answers a request that belongs to no lane, and so is in no ledger. */
function refuse(error: unknown, target: string, request: IncomingMessage, response: ServerResponse): void {
  if (!(error instanceof RequestError)) {
    response.destroy();
    return;
  }
  const body = providerError(likelyWire(target, request.headers), error.status, error.message);
  response.writeHead(error.status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
