import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Budget, type BudgetAccount, openBudget } from './budget.ts';
import type { PriceOf } from './call-price.ts';
import { allowedEndpoints } from './endpoints.ts';
import { type LaneTarget, runExchange } from './exchange.ts';
import type { ClientLimits, ExchangeLane } from './exchange-lane.ts';
import { type ExchangeOptions, openExchangeFile } from './exchanges/exchange-file.ts';
import { chooseFaults } from './faults/choose-faults.ts';
import type { FaultRule } from './faults/fault.ts';
import { upstreamHeaders } from './forward/headers.ts';
import { providerApis, type Upstreams } from './forward/upstream.ts';
import { type LedgerLine, openLedger } from './ledger.ts';
import { type LaneMode, openSource } from './open-source.ts';
import type { Rate } from './rate/turns.ts';
import { countRetries } from './retry-count.ts';
import type { ModelCall } from './source.ts';
import type { WireProtocol } from './wire/neutral.ts';
import { allowsTool } from './wire/provider-tools.ts';

export type LaneOptions = {
  /** Whom the lane is for, in the caller's words. It is in every ledger line, and part of the seed of scripted chance. */
  owner: string;
  mode: LaneMode;
  /** What goes wrong on purpose, in any mode. All rules that match a call apply to it, in their order. */
  faults?: readonly FaultRule[];
  /**
   * Tools that run at the provider and that the agent may use, in the modes that forward: all, or those listed by their
   * type or field in the request, with or without the version (`web_search`, `code_execution`, `mcp`, `googleSearch`).
   * Addresses that the provider fetches count as tools (`image_url`, `file_url`, `url`, `fileUri`).
   * Default none: the gateway removes them from requests.
   */
  allowProviderTools?: true | readonly string[];
  /**
   * Endpoints that the agent may use besides model calls, token counts and lists of models, in any mode: `/v1/embeddings`,
   * `GET /files/*`. The method is optional, and so is the version; a `*` at the end is any rest of the path. All others get
   * a 403. The gateway cannot meter them: those that do more than read are refused under a budget for cost or tokens.
   */
  allowEndpoints?: readonly string[];
  /** The lane's own limits. The gateway's limits also apply. */
  budget?: Budget;
  /**
   * Called with each model call that carries the lane's key, as its client sent it, before it is answered. Must not
   * throw; an error is ignored.
   */
  onRequest?: (request: LaneRequest) => void;
  /** Called once for each finished call. Must not throw; an error is ignored. */
  onCall?: (line: LedgerLine) => void;
  /** A JSONL file that ledger lines are appended to as calls finish. Its folder must exist. */
  ledgerFile?: string;
  /**
   * Keeps secrets out of `ledgerFile` and of a cassette: called with each line of JSON. What it puts in their place must
   * fit into a JSON string.
   */
  mask?: (text: string) => string;
  /**
   * Keeps the bodies of all model calls, in a file of JSON lines compressed with zstd: one `KeptExchange` per call, written
   * after its reply was sent. Headers are not kept. At most 16 MiB of a body and 1 GiB per lane; a line says what was left out.
   */
  exchanges?: ExchangeOptions;
};

/** A model call as its client sent it. */
export type LaneRequest = {
  /** The id of the call's ledger line. */
  id: string;
  wire: WireProtocol;
  /** Without headers of the connection and without keys. */
  headers: OutgoingHttpHeaders;
  /** Decompressed. */
  body: Uint8Array;
};

/** One agent's way to its model: a base URL and a key of its own, and a ledger of its calls. */
export type Lane = {
  id: string;
  /**
   * `http://HOST:PORT/lanes/ID`, without a slash at the end and without `/v1`. A client that signs in to its provider
   * itself uses `http://HOST:PORT/lanes/ID.KEY`.
   */
  baseUrl: string;
  /** Replaces the provider's key for the agent, and only opens this lane. */
  key: string;
  /** Environment variables that point agents and provider SDKs at the lane. */
  env: Record<string, string>;
  ledger: readonly LedgerLine[];
  /**
   * Ends the lane's open requests and waits until the ledger is written. Later requests get 404.
   * @throws GatewayError `ledger-unwritable`, `exchanges-unwritable` when a line could not be written
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ServedLane = Awaited<ReturnType<typeof openLane>>;

export type LanePlace = {
  gatewayUrl: string;
  /** The address that the gateway listens on. */
  host: string;
  clientLimits: ClientLimits;
  /** The budget of all lanes together. */
  budget: BudgetAccount;
  /** Default: the list price of the provider that the call goes to. */
  priceOf: PriceOf | undefined;
  onKey: ((key: string) => void) | undefined;
  /** The turns of all lanes together at each provider. */
  rate: Rate;
  /** Called when the lane closes, before its open requests end. */
  onClose: (id: string) => void;
};

/** A script is never paid for; the list is large, and read when a lane needs it. */
async function callPriceOf(mode: LaneMode, own: PriceOf | undefined): Promise<PriceOf> {
  if (mode.kind === 'script') return () => null;
  const priceOf = own ?? (await import('./upstream-price.ts')).upstreamPrice;
  const upstreams: Upstreams = 'upstreams' in mode ? mode.upstreams : {};
  return (call) => {
    const upstream = upstreams[call.wire];
    return priceOf({
      ...call,
      ...(upstream && { upstream: upstream.baseUrl ?? providerApis[call.wire].baseUrl }),
    });
  };
}

/** A lane, and the function with which the server answers its requests. */
export async function openLane(options: LaneOptions, place: LanePlace) {
  const { owner, faults = [], allowProviderTools = [], allowEndpoints = [] } = options;
  const access = {
    allowsEndpoint: allowedEndpoints(allowEndpoints),
    allowsTool: allowsTool(allowProviderTools),
  };
  const id = randomBytes(8).toString('hex');
  const key = `sk-whetstone-${randomBytes(24).toString('base64url')}`;
  const baseUrl = `${place.gatewayUrl}/lanes/${id}`;
  const ledger = await openLedger(options);
  const exchanges = options.exchanges && openExchangeFile(options.exchanges);
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const budgets = [openBudget(options.budget), place.budget];
  const source = await openSource(options.mode, {
    owner,
    laneKey: key,
    laneUrl: baseUrl,
    budgets,
    allowsTool: access.allowsTool,
    onKey: place.onKey,
    mask: options.mask,
    rate: place.rate,
  });
  const priceOf = await callPriceOf(options.mode, place.priceOf);
  let modelCalls = 0;
  const exchangeLane: ExchangeLane = {
    id,
    owner,
    key,
    source,
    host: place.host,
    access,
    nextFaults() {
      modelCalls += 1;
      return chooseFaults(faults, modelCalls, owner);
    },
    onRequest: (call) => reportRequest(call, key, options.onRequest),
    keep: exchanges?.append,
    budgets,
    priceOf,
    retries: countRetries(),
    clientLimits: place.clientLimits,
    closing: closing.signal,
  };

  /** Answers a request. Never rejects. */
  async function serve(request: IncomingMessage, response: ServerResponse, asked: LaneTarget): Promise<void> {
    const exchange = runExchange(request, response, asked, exchangeLane).then(ledger.append);
    open.add(exchange);
    await exchange;
    open.delete(exchange);
  }

  async function end(): Promise<void> {
    place.onClose(id);
    closing.abort(new Error('The lane was closed.'));
    await Promise.all(open);
    const closed = await Promise.allSettled([source.close(), ledger.close(), exchanges?.close()]);
    const failure = closed.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
  }

  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended ??= end();
    return ended;
  };

  const env = laneEnvironment(baseUrl, key);
  const lane: Lane = { id, baseUrl, key, env, ledger: ledger.lines, close, [Symbol.asyncDispose]: close };
  return { lane, serve };
}

function reportRequest(
  { line, wire, headers, body }: ModelCall,
  key: string,
  onRequest: LaneOptions['onRequest'],
): void {
  try {
    onRequest?.({ id: line.id, wire, headers: upstreamHeaders(headers, key), body });
  } catch {
    // A listener's failure must not reach the agent's call.
  }
}

/**
 * Environment variables that point agents and provider SDKs at a lane. OpenAI's SDKs want `/v1` in the base URL;
 * Anthropic's and Google's add their version themselves.
 */
export const laneEnvironment = (baseUrl: string, key: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${baseUrl}/v1`,
  OPENAI_API_KEY: key,
  ANTHROPIC_BASE_URL: baseUrl,
  ANTHROPIC_API_KEY: key,
  GOOGLE_GEMINI_BASE_URL: baseUrl,
  GEMINI_API_KEY: key,
  WHETSTONE_GATEWAY_URL: baseUrl,
  WHETSTONE_GATEWAY_KEY: key,
});
