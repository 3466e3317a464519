import type { IncomingMessage } from 'node:http';
import { suggestion } from '@whetstone/errors/did-you-mean';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { type Answer, errorAnswer } from '../answer.ts';
import { type BudgetAccount, checkBudgets } from '../budget.ts';
import { readWhole } from '../event-stream.ts';
import { GatewayError } from '../gateway-error.ts';
import type { MaskText } from '../json-lines-file.ts';
import { isRefusal, retryAfterMs, retryAfterMsIn } from '../rate/retry-after.ts';
import type { Rate } from '../rate/turns.ts';
import type { Call, ModelCall, Source } from '../source.ts';
import { bounded, boundedNames } from '../text.ts';
import { parseJsonObject } from '../wire/json-reading.ts';
import { type NeutralRequest, type WireProtocol, wireProtocols } from '../wire/neutral.ts';
import { stripProviderTools } from '../wire/provider-tools.ts';
import { RequestError } from '../wire/request-error.ts';
import { meterResponse, type ResponseMeter } from '../wire/response-meter.ts';
import { wires } from '../wire/wires.ts';
import { askForUsage, lacksUsage, withoutUsageChunk } from './chat-usage.ts';
import { openConnections } from './connections.ts';
import { decodeBody, readUpTo } from './decode-body.ts';
import { agentHeaders, clientCredentials, upstreamHeaders } from './headers.ts';
import { watchRefusals } from './lasting-refusal.ts';
import { maskKey, maskKeyInText } from './mask-key.ts';
import { oncePerSource, readKey } from './provider-key.ts';
import { sendUpstream } from './send-upstream.ts';
import { providerApis, type Upstream, type Upstreams, upstreamUrl } from './upstream.ts';
import { waitForTurn } from './wait-for-turn.ts';

export type ForwardOptions = {
  upstreams: Upstreams;
  /** How long a provider may stay silent before its call ends, in milliseconds; default 10 minutes. */
  idleTimeoutMs?: number;
};

/** What a forwarding source needs to know about its lane. */
export type ForwardPlace = {
  laneKey: string;
  budgets: readonly BudgetAccount[];
  allowsTool: (tool: string) => boolean;
  /** For what is kept of the calls. */
  mask: MaskText | undefined;
  /** Called with each key that was read. */
  onKey: ((key: string) => void) | undefined;
  rate: Rate;
};

/** Not a text, which could be a key. */
const CLIENT = Symbol('the credentials of the client');

/** Errors of providers have a few hundred bytes. */
const maxErrorBytes = 1024 * 1024;
const defaultIdleTimeoutMs = 10 * 60_000;

/**
 * Passes every call on to its provider, with the real key instead of the lane's.
 * @throws GatewayError `key-unavailable`, `upstream-invalid`
 */
export async function forwardSource(options: ForwardOptions, place: ForwardPlace): Promise<Source> {
  const providers = await openProviders(options.upstreams, place.onKey);
  const connections = openConnections();
  const refusals = watchRefusals();

  function destinationOf(call: Call) {
    const provider = providers.get(call.wire);
    if (!provider) {
      throw new RequestError(404, `This lane has no provider for ${call.wire}. Add one to its upstreams.`);
    }
    return {
      url: upstreamUrl(call.wire, provider.baseUrl, call.target),
      ...credentialsFor(call, provider.key, place.laneKey),
    };
  }

  async function send(
    call: Call,
    body: Uint8Array,
    { url, credentials, key, isClients } = destinationOf(call),
  ): Promise<Forwarded> {
    const response = await sendUpstream({
      url,
      method: call.method,
      headers: {
        ...upstreamHeaders(call.headers, place.laneKey),
        ...credentials,
        'accept-encoding': 'identity',
        ...(body.length > 0 || call.method === 'POST' ? { 'content-length': body.length } : {}),
      },
      body,
      agent: connections.agentFor(url),
      signal: call.signal,
      idleTimeoutMs: options.idleTimeoutMs ?? defaultIdleTimeoutMs,
    });
    return { response, key, isClients };
  }

  /** The body without the tools that the lane does not allow; unchanged when it has none of them. */
  function strippedBody(
    call: Call,
    { wire, raw: asked }: Pick<NeutralRequest, 'wire' | 'raw'>,
    change = (raw: JsonObject): JsonObject => raw,
  ): Uint8Array {
    const { raw, stripped } = stripProviderTools(wire, asked, place.allowsTool);
    call.line.stripped_tools = boundedNames(stripped);
    const changed = change(raw);
    return changed === asked ? call.body : Buffer.from(JSON.stringify(changed));
  }

  return {
    async reply(call) {
      const { wire } = call;
      const asksForUsage = lacksUsage(call.neutral);
      const body = strippedBody(call, call.neutral, asksForUsage ? askForUsage : undefined);
      forgetContent(call);
      const destination = destinationOf(call);
      let meter: Answer['meter'];
      const turn = await waitForTurn(
        place.rate(destination.url.host),
        call,
        () => meter?.overloaded() === true,
      );
      // A budget may have been used up while the call waited.
      checkBudgets(place.budgets, true);
      const forwarded = await send(call, body, destination);
      const plain = await plainAnswer(forwarded, call, (type) => {
        meter = meterResponse(wires[wire].meter(), type);
        return meter;
      });
      const answer = refusals.heed(plain, call, forwarded.isClients);
      if (isRefusal(answer.status)) turn.refused(await pauseAskedFor(forwarded.response, answer));
      if (!asksForUsage || answer.status >= 400) return answer;
      const { 'content-length': _, ...headers } = answer.headers;
      return { ...answer, headers, body: withoutUsageChunk(answer.body) };
    },

    async countTokens(call) {
      return plainAnswer(await send(call, strippedBody(call, call.neutral)), call);
    },

    async other(call) {
      if (isPaid(call) && place.budgets.some((budget) => budget.limitsSpending)) {
        const what = `${call.method} ${call.line.path}`;
        throw new RequestError(
          403,
          `${what} cannot be metered, and this lane has a budget for cost or tokens.`,
        );
      }
      const body =
        call.route.kind === 'responses-tokens'
          ? strippedBody(call, { wire: 'openai-responses', raw: parseJsonObject(call.body) })
          : call.body;
      const answer = await plainAnswer(await send(call, body), call);
      if (isPaid(call) && answer.status < 400) call.line.flags.push('unmetered');
      return answer;
    },

    async close() {
      connections.close();
    },
  };
}

/** An answer may take minutes, and a parsed request is several times as large as its body. */
function forgetContent(call: ModelCall): void {
  call.neutral = { ...call.neutral, instructions: '', messages: [], tools: [], raw: {} };
}

/** A call to an endpoint that the gateway does not know may cost money, unless it only reads. */
const isPaid = ({ method, route }: Call): boolean =>
  route.kind === 'other' && method !== 'GET' && method !== 'HEAD';

/** The headers that sign a call in, and the secret in them. @throws RequestError 401 */
function credentialsFor({ wire, headers }: Call, key: string | typeof CLIENT, laneKey: string) {
  if (key !== CLIENT) return { credentials: providerApis[wire].keyHeader(key), key, isClients: false };
  const own = clientCredentials(headers, laneKey);
  if (!own) throw new RequestError(401, 'This lane forwards the credentials of its client, which sent none.');
  return { credentials: own.headers, key: own.secret, isClients: true };
}

async function openProviders(upstreams: Upstreams, onKey: ForwardPlace['onKey']) {
  const providers = new Map<WireProtocol, { baseUrl: string; key: string | typeof CLIENT }>();
  const read = oncePerSource(readKey);
  refuseUnknown(upstreams);
  for (const wire of wireProtocols) {
    const upstream = upstreams[wire];
    if (!upstream) continue;
    const baseUrl = upstream.baseUrl ?? providerApis[wire].baseUrl;
    if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw new GatewayError(
        'upstream-invalid',
        `The base URL for ${wire} is not an http or https URL: "${baseUrl}".`,
      );
    }
    if (upstream.key === 'client') providers.set(wire, { baseUrl, key: CLIENT });
    else {
      const key = await read(upstream.key);
      onKey?.(key);
      providers.set(wire, { baseUrl, key });
    }
  }
  return providers;
}

/** A key of JavaScript that is misspelt: without its `baseUrl`, a call and its key would go to the provider's own address. */
function refuseUnknown(upstreams: Upstreams): void {
  for (const [wire, upstream] of Object.entries(upstreams)) {
    checkName('upstreams', wire, wireProtocols);
    for (const name of Object.keys(upstream)) checkName(`upstreams["${wire}"]`, name, UPSTREAM_KEYS);
  }
}

const UPSTREAM_KEYS = ['baseUrl', 'key'] as const satisfies (keyof Upstream)[];

function checkName(place: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new GatewayError('upstream-invalid', `${place} has no ${name}; ${suggestion(name, known)}`);
}

type Forwarded = { response: IncomingMessage; key: string; isClients: boolean };

/** @param openMeter opens a meter for a good answer of this content type; without it the answer is not metered. */
async function plainAnswer(
  { response, key, isClients }: Forwarded,
  call: Call,
  openMeter?: (contentType: string) => ResponseMeter,
): Promise<Answer> {
  const { statusCode: status = 502 } = response;
  if (status === 401) {
    response.destroy();
    call.line.error = `The provider refused ${isClients ? 'the login that the agent sent' : "the gateway's key"}.`;
    // The provider's text quotes parts of the key.
    return errorAnswer(call.wire, 401, call.line.error);
  }
  if (status >= 300 && status < 400) {
    response.destroy();
    throw new RequestError(502, `The provider answered with a redirect (${status}), which is not followed.`);
  }
  const decoded = decodeBody(response);
  const headers = agentHeaders(response.headers, key, decoded !== response);
  if (status < 400) {
    const meter = openMeter?.(String(headers['content-type'] ?? ''));
    return { status, headers, body: masked(decoded, key, meter), ...present({ meter }) };
  }
  const whole = await readUpTo(maxErrorBytes, masked(decoded, key));
  if (!whole) {
    call.line.flags.push('too-large');
    call.line.error = `The provider answered with status ${status} and more than ${maxErrorBytes} bytes, which are not read.`;
    const { 'retry-after': pause } = headers;
    return errorAnswer(
      call.wire,
      status,
      call.line.error,
      pause === undefined ? {} : { 'retry-after': pause },
    );
  }
  call.line.error = bounded(maskKeyInText(whole.toString(), key), 2000);
  return { status, headers, body: [whole] };
}

/** In milliseconds. The body of an error has been read as a whole. */
const pauseAskedFor = async ({ headers }: IncomingMessage, { body }: Answer): Promise<number | undefined> =>
  retryAfterMs(headers, Date.now()) ?? retryAfterMsIn((await readWhole(body)).toString());

async function* masked(
  chunks: AsyncIterable<Uint8Array>,
  key: string,
  meter?: ResponseMeter,
): AsyncGenerator<Uint8Array> {
  const mask = maskKey(key);
  for await (const chunk of chunks) {
    const safe = mask.push(chunk);
    meter?.push(safe);
    if (safe.length > 0) yield safe;
  }
  const rest = mask.end();
  meter?.push(rest);
  if (rest.length > 0) yield rest;
}
