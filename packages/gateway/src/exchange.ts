import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { hasKey } from './access.ts';
import { agentFamily } from './agent-family.ts';
import { type Answer, type AnswerBody, errorAnswer, isEventStream, jsonAnswer } from './answer.ts';
import { type BudgetAccount, budgetMessage } from './budget.ts';
import { readWhole } from './event-stream.ts';
import { answerByFault, refuseByFault } from './faults/before-answer.ts';
import { ConnectionFault } from './faults/connection-fault.ts';
import type { Fault } from './faults/fault.ts';
import { spoilAnswer } from './faults/spoil-answer.ts';
import type { LedgerLine } from './ledger.ts';
import { openLine, settleLine } from './ledger-line.ts';
import type { Prices } from './prices.ts';
import { readBody } from './request-body.ts';
import type { RetryCount } from './retry-count.ts';
import { likelyWire, type Route, route } from './route.ts';
import type { Call, ModelCall, Source } from './source.ts';
import { bounded, messageOf } from './text.ts';
import type { RequestTarget, WireProtocol } from './wire/neutral.ts';
import { finalStatus } from './wire/provider-error.ts';
import { RequestError } from './wire/request-error.ts';
import { wires } from './wire/wires.ts';

/** What an exchange needs to know of its lane. */
export type ExchangeLane = {
  id: string;
  attempt: string;
  key: string;
  source: Source;
  /** Counts a model call and gives the faults that meet it. */
  nextFaults: () => Fault[];
  /** Those that a model call counts for: the lane's and the gateway's. */
  budgets: readonly BudgetAccount[];
  prices: Prices;
  retries: RetryCount;
  maxBodyBytes: number;
  /** Aborted when the lane closes. */
  closing: AbortSignal;
};

/** One request to a lane, on its way to its answer. */
type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  target: string;
  lane: ExchangeLane;
  line: LedgerLine;
  /** Aborted when the client is gone or the lane closes. */
  stop: AbortSignal;
  /** The request as a model call, once it could be read. */
  asked?: ModelCall;
};

/**
 * Answers one request to a lane, and resolves when the answer is sent or the connection is gone. Must not reject: what
 * happened is in the ledger line.
 */
export async function runExchange(
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  lane: ExchangeLane,
): Promise<LedgerLine> {
  const startedAt = performance.now();
  const line = openLine(request, target, lane);
  const clientGone = whenClientGone(response);
  const stop = AbortSignal.any([clientGone, lane.closing]);
  const exchange: Exchange = { request, response, target, lane, line, stop };
  let answer: Answer | undefined;

  try {
    answer = await unlessAborted(answerOrError(exchange), stop);
    line.status = answer.status;
    line.first_byte_ms = elapsedSince(startedAt);
    await send(answer, exchange);
    line.outcome = answer.status < 400 ? 'ok' : 'error';
  } catch (error) {
    if (error instanceof ConnectionFault) request.socket.resetAndDestroy();
    response.destroy();
    // Ending the answer closes the connection too, so the first of the two reasons counts.
    if (stop.aborted && stop.reason === clientGone.reason) line.outcome = 'client-closed';
    else line.error = bounded(messageOf(stop.aborted ? stop.reason : error), 2000);
  }
  line.total_ms = elapsedSince(startedAt);
  settleLine(line, { answer, asked: exchange.asked, startedAt, lane });
  // A copy: a reply that nobody waits for any more may still be at work on the line.
  return structuredClone(line);
}

/** The answer to a request; a failure is an answer too, in the shape of the provider that the client expects. */
async function answerOrError(exchange: Exchange): Promise<Answer> {
  const { request, target, line } = exchange;
  const asked = route(request.method ?? '', target, request.headers);
  const wire = 'wire' in asked ? asked.wire : likelyWire(target, request.headers);
  if ('wire' in asked) line.wire = asked.wire;
  if (asked.kind !== 'reply') line.flags.push('auxiliary');
  try {
    return await answer(asked, wire, exchange);
  } catch (error) {
    if (error instanceof ConnectionFault) throw error;
    line.error = bounded(messageOf(error), 2000);
    if (!(error instanceof RequestError)) {
      return errorAnswer(wire, 500, 'The gateway failed. Its ledger says why.');
    }
    // RFC 9110: a 426 names the protocol it is about.
    const headers = error.status === 426 ? { upgrade: 'websocket' } : {};
    return errorAnswer(wire, error.status, error.message, headers);
  }
}

async function answer(asked: Route, wire: WireProtocol, exchange: Exchange): Promise<Answer> {
  const { request, target, lane, line, stop } = exchange;
  if (asked.kind === 'hello') return jsonAnswer(200, { ok: true });
  if (!hasKey(request.headers, target, lane.key)) {
    line.flags.push('unauthenticated');
    throw new RequestError(401, "The key is not this lane's. Use the key and the base URL of one lane.");
  }
  if (asked.kind === 'websocket') {
    throw new RequestError(426, 'WebSocket is not supported here. Send the request as POST.');
  }
  if (asked.kind === 'reply') return modelReply(asked, exchange);

  const body = await readBody(request, lane.maxBodyBytes);
  line.request_bytes = body.length;
  const call: Call = {
    method: request.method ?? '',
    target,
    headers: request.headers,
    route: asked,
    wire,
    body,
    line,
    signal: stop,
  };
  const refusal = refuseOverBudget(wire, exchange);
  if (refusal) return refusal;
  if (asked.kind !== 'count-tokens') return lane.source.other(call);
  return lane.source.countTokens(readModelCall(call, asked.wire, asked.target));
}

async function modelReply(asked: Extract<Route, { kind: 'reply' }>, exchange: Exchange): Promise<Answer> {
  const { request, target, lane, line, stop } = exchange;
  const faults = lane.nextFaults();
  line.faults = faults.map((fault) => fault.kind);
  refuseByFault(faults);
  const body = await readBody(request, lane.maxBodyBytes);
  const call = readModelCall(
    {
      method: 'POST',
      target,
      headers: request.headers,
      route: asked,
      wire: asked.wire,
      body,
      line,
      signal: stop,
    },
    asked.wire,
    asked.target,
  );
  exchange.asked = call;
  const refusal = refuseOverBudget(asked.wire, exchange);
  if (refusal) return refusal;
  for (const budget of lane.budgets) budget.admit();
  return (
    (await answerByFault(faults, asked.wire, stop)) ??
    spoilAnswer(await lane.source.reply(call), faults, asked.wire, stop)
  );
}

function refuseOverBudget(wire: WireProtocol, { lane, line }: Exchange): Answer | undefined {
  const limit = lane.budgets.map((budget) => budget.exceeded()).find((exceeded) => exceeded !== undefined);
  if (!limit) return undefined;
  line.flags.push('over-budget');
  line.error = budgetMessage(limit);
  // The SDKs of OpenAI and Anthropic do not repeat what says so.
  return errorAnswer(wire, finalStatus(wire), line.error, { 'x-should-retry': 'false' });
}

function readModelCall(call: Call, wire: WireProtocol, target: RequestTarget | undefined): ModelCall {
  const { line, body, headers } = call;
  line.request_bytes = body.length;
  const neutral = wires[wire].parse(body, target);
  line.agent_family = agentFamily(headers, neutral.tools);
  line.model_asked = neutral.model === '' ? null : bounded(neutral.model, 200);
  line.stream = neutral.stream;
  line.tools_offered = neutral.tools.slice(0, 500).map((tool) => bounded(tool.name, 100));
  return { ...call, neutral };
}

async function send(answer: Answer, { request, response, line, stop }: Exchange): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  if (request.method === 'HEAD') {
    await readWhole(answer.body);
    response.end();
    return;
  }
  // The client of a stream learns that it began before the model says its first word.
  if (isEventStream(answer)) response.flushHeaders();
  await pipeline(counted(answer.body, line), response, { signal: stop });
}

async function* counted(chunks: AnswerBody, line: LedgerLine): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of chunks) {
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

const elapsedSince = (startedAt: number): number => Math.round((performance.now() - startedAt) * 1000) / 1000;
