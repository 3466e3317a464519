import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { JsonObject } from '@whetstone/events';
import { hasKey } from './access.ts';
import { agentFamily } from './agent-family.ts';
import type { LaneMode } from './lane-mode.ts';
import type { LedgerLine } from './ledger.ts';
import { readBody } from './request-body.ts';
import { likelyWire, type Route, route } from './route.ts';
import { playScript } from './script/play.ts';
import { estimateInputTokens } from './script/request-text.ts';
import type { NeutralRequest, WireProtocol } from './wire/neutral.ts';
import { providerError } from './wire/provider-error.ts';
import { RequestError } from './wire/request-error.ts';
import { wires } from './wire/wires.ts';

/** What an exchange needs to know of its lane. */
export type ExchangeLane = {
  id: string;
  attempt: string;
  key: string;
  mode: LaneMode;
  maxBodyBytes: number;
  /** Aborted when the lane closes. */
  closing: AbortSignal;
};

type Answer = { status: number; headers?: Record<string, string> } & (
  | { kind: 'json'; body: JsonObject }
  | { kind: 'events'; events: Iterable<string> }
);

/**
 * Answers one request to a lane, and resolves when the answer is sent or the connection is gone. Must not reject: what
 * happened is in the ledger line.
 */
export async function runExchange(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  lane: ExchangeLane,
): Promise<LedgerLine> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 1000) / 1000;
  const line = openLine(request, path, lane);
  const clientGone = whenClientGone(response);
  const stop = AbortSignal.any([clientGone, lane.closing]);

  try {
    const answer = await unlessAborted(answerOrError(request, path, lane, line), stop);
    line.status = answer.status;
    line.first_byte_ms = elapsed();
    await send(answer, response, line, stop);
    line.outcome = answer.status < 400 ? 'ok' : 'error';
  } catch (error) {
    response.destroy();
    // Ending the answer closes the connection too, so the first of the two reasons counts.
    if (stop.aborted && stop.reason === clientGone.reason) line.outcome = 'client-closed';
    else line.error = bounded(messageOf(stop.aborted ? stop.reason : error), 2000);
  }
  line.total_ms = elapsed();
  // A copy: a reply that nobody waits for any more may still be at work on the line.
  return structuredClone(line);
}

function openLine(request: IncomingMessage, path: string, lane: ExchangeLane): LedgerLine {
  return {
    id: randomUUID(),
    lane: lane.id,
    attempt: lane.attempt,
    at: new Date().toISOString(),
    wire: null,
    method: request.method ?? '',
    path: bounded(path, 500),
    agent_family: agentFamily(request.headers),
    model_asked: null,
    model_answered: null,
    stream: false,
    status: null,
    outcome: 'error',
    usage: null,
    cost_usd: null,
    first_byte_ms: null,
    total_ms: 0,
    tools_offered: [],
    tools_called: [],
    finish: null,
    request_bytes: 0,
    response_bytes: 0,
    request_hash: null,
    flags: [],
    step: null,
  };
}

/** The answer to a request; a failure is an answer too, in the shape of the provider that the client expects. */
async function answerOrError(
  request: IncomingMessage,
  path: string,
  lane: ExchangeLane,
  line: LedgerLine,
): Promise<Answer> {
  const asked = route(request.method ?? '', path, request.headers);
  if ('wire' in asked) line.wire = asked.wire;
  if (asked.kind !== 'reply') line.flags.push('auxiliary');
  try {
    return await answer(asked, request, path, lane, line);
  } catch (error) {
    line.error = bounded(messageOf(error), 2000);
    const status = error instanceof RequestError ? error.status : 500;
    const message =
      error instanceof RequestError ? error.message : 'The gateway failed. Its ledger says why.';
    const wire = line.wire ?? likelyWire(path, request.headers);
    return {
      kind: 'json',
      status,
      body: providerError(wire, status, message),
      // RFC 9110: a 426 names the protocol it is about.
      ...(status === 426 ? { headers: { upgrade: 'websocket' } } : {}),
    };
  }
}

async function answer(
  asked: Route,
  request: IncomingMessage,
  path: string,
  lane: ExchangeLane,
  line: LedgerLine,
): Promise<Answer> {
  if (asked.kind === 'hello') return { kind: 'json', status: 200, body: { ok: true } };
  if (!hasKey(request.headers, lane.key)) {
    line.flags.push('unauthenticated');
    throw new RequestError(401, "The key is not this lane's. Use the key and the base URL of one lane.");
  }
  switch (asked.kind) {
    case 'models':
      return { kind: 'json', status: 200, body: modelList(likelyWire(path, request.headers), lane) };
    case 'websocket':
      throw new RequestError(426, 'WebSocket is not supported here. Send the request as POST.');
    case 'unknown':
      throw new RequestError(404, `${request.method} ${bounded(path, 200)} is unknown to the gateway.`);
    case 'count-tokens': {
      const neutral = await readRequest(asked.wire, request, lane, line);
      return { kind: 'json', status: 200, body: { input_tokens: estimateInputTokens(neutral) } };
    }
    case 'reply':
      return reply(await readRequest(asked.wire, request, lane, line), lane, line);
  }
}

async function readRequest(
  wire: WireProtocol,
  request: IncomingMessage,
  lane: ExchangeLane,
  line: LedgerLine,
): Promise<NeutralRequest> {
  const body = await readBody(request, lane.maxBodyBytes);
  line.request_bytes = body.length;
  line.request_hash = createHash('sha256').update(body).digest('hex');
  const neutral = wires[wire].parse(body);
  line.agent_family = agentFamily(request.headers, neutral.tools);
  line.model_asked = neutral.model === '' ? null : bounded(neutral.model, 200);
  line.stream = neutral.stream;
  line.tools_offered = neutral.tools.slice(0, 500).map((tool) => bounded(tool.name, 100));
  return neutral;
}

async function reply(request: NeutralRequest, lane: ExchangeLane, line: LedgerLine): Promise<Answer> {
  const seed = { seed: lane.mode.seed ?? 0, attempt: lane.attempt };
  const played = await playScript(lane.mode.script, request, line.agent_family, seed);
  if (played.step === null) line.flags.push('side-request');
  line.step = played.step;
  line.model_answered = line.model_asked;
  line.usage = played.reply.usage;
  line.finish = played.reply.finish;
  line.tools_called = played.reply.toolCalls.map((call) => call.name);

  const wire = wires[request.wire];
  return request.stream
    ? { kind: 'events', status: 200, events: wire.stream(played.reply) }
    : { kind: 'json', status: 200, body: wire.encode(played.reply) };
}

/** The one model there is. Its id is the script's name; a request may name any other. */
function modelList(wire: WireProtocol, lane: ExchangeLane): JsonObject {
  const id = lane.mode.script.name;
  if (wire === 'openai-responses') {
    return { object: 'list', data: [{ id, object: 'model', created: 0, owned_by: 'whetstone' }] };
  }
  const model = { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' };
  return { data: [model], has_more: false, first_id: id, last_id: id };
}

async function send(
  answer: Answer,
  response: ServerResponse,
  line: LedgerLine,
  stop: AbortSignal,
): Promise<void> {
  if (answer.kind === 'json') {
    const body = Buffer.from(JSON.stringify(answer.body));
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': body.length,
      ...answer.headers,
    });
    await pipeline(counted([body], line), response, { signal: stop });
  } else {
    response.writeHead(answer.status, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...answer.headers,
    });
    await pipeline(counted(answer.events, line), response, { signal: stop });
  }
}

async function* counted(
  chunks: Iterable<string | Buffer>,
  line: LedgerLine,
): AsyncGenerator<string | Buffer> {
  for (const chunk of chunks) {
    line.response_bytes += Buffer.byteLength(chunk);
    yield chunk;
  }
}

function whenClientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('The client closed the connection.'));
  });
  return gone.signal;
}

/** Settles as `work` does, or rejects as soon as the signal aborts; then `work` goes on unobserved. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

const bounded = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
