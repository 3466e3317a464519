import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '@whetstone/errors';
import { checkEndpoint, checkNotFromBrowser, hasKey } from './access.ts';
import { agentFamily } from './agent-family.ts';
import { type Answer, errorAnswer, isEventStream, jsonAnswer } from './answer.ts';
import { checkBudgets, OverBudget } from './budget.ts';
import type { ExchangeLane } from './exchange-lane.ts';
import { collectReply } from './exchanges/collect-reply.ts';
import { answerByFault, ConnectionFault, refuseByFault } from './faults/before-answer.ts';
import type { Fault } from './faults/fault.ts';
import { spoilAnswer } from './faults/spoil-answer.ts';
import type { LedgerLine } from './ledger.ts';
import { type AskedCall, openLine, settleLine } from './ledger-line.ts';
import { oneATurn } from './one-a-turn.ts';
import { readBody } from './request-body.ts';
import { likelyWire, type Route, route } from './route.ts';
import { sendAnswer, UnreadAnswer } from './send-answer.ts';
import type { Call, ModelCall } from './source.ts';
import { bounded, boundedNames } from './text.ts';
import { EventTooLarge } from './wire/event-splitter.ts';
import type { RequestTarget, WireProtocol } from './wire/neutral.ts';
import { finalStatus } from './wire/provider-error.ts';
import { providerToolFields } from './wire/provider-tools.ts';
import { RequestError } from './wire/request-error.ts';
import { wires } from './wire/wires.ts';

/** The path and query of a request below the lane's base URL, and the key in that URL, if it has one. */
export type LaneTarget = { target: string; key?: string };

/** One request to a lane that is being answered. */
type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  target: string;
  /** From the URL. */
  key: string | undefined;
  lane: ExchangeLane;
  line: LedgerLine;
  /** Aborted when the client is gone or the lane closes. */
  stop: AbortSignal;
  ended: PromiseWithResolvers<void>;
  /** What the ledger needs of a model call, once it has been read. */
  asked?: AskedCall;
};

/**
 * Answers one request to a lane, and resolves when the answer is sent or the connection is gone. Must not reject: the
 * ledger line says what happened.
 */
export async function runExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { target, key }: LaneTarget,
  lane: ExchangeLane,
): Promise<LedgerLine> {
  const startedAt = performance.now();
  const line = openLine(request, target, lane);
  const { stop, isClientGone, release } = stopOf(response, lane.closing);
  const ended = Promise.withResolvers<void>();
  const exchange: Exchange = { request, response, target, key, lane, line, stop, ended };
  let answer: Answer | undefined;
  const sent = lane.keep && collectReply();

  try {
    answer = await unlessAborted(answerOrError(exchange), stop);
    line.status = answer.status;
    line.first_byte_ms = elapsedSince(startedAt);
    const sending = {
      headOnly: request.method === 'HEAD',
      maxUnreadMs: lane.clientLimits.maxUnreadMs,
      onSent: (chunk: string | Uint8Array) => {
        line.response_bytes += Buffer.byteLength(chunk);
        sent?.add(chunk);
      },
      stop,
    };
    await unlessAborted(sendAnswer(answer, response, sending), stop);
    line.outcome = answer.status < 400 ? 'ok' : 'error';
  } catch (error) {
    if (error instanceof ConnectionFault) request.socket.resetAndDestroy();
    response.destroy();
    // Ending the answer also closes the connection, so the first reason counts.
    const reason = stop.aborted && !(error instanceof UnreadAnswer) ? stop.reason : error;
    if (isClientGone() && reason === stop.reason) line.outcome = 'client-closed';
    else line.error = bounded(messageOf(reason), 2000);
    if (reason instanceof EventTooLarge) line.flags.push('too-large');
  }
  release();
  line.total_ms = elapsedSince(startedAt);
  settleLine(line, { answer, asked: exchange.asked, startedAt, lane });
  if (exchange.asked && line.wire) {
    const reply = answer && sent?.all(isEventStream(answer));
    lane.keep?.({ id: line.id, wire: line.wire, request: exchange.asked.body, reply });
  }
  ended.resolve();
  // A copy, because a reply that nobody waits for any more may still change the line.
  return { ...line, flags: [...line.flags] };
}

/** The answer to a request. A failure is also an answer, in the shape of the provider that the client expects. */
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
    if (error instanceof OverBudget) return refuseOverBudget(error, wire, line);
    if (!(error instanceof RequestError)) {
      return errorAnswer(wire, 500, 'The gateway failed. Its ledger says why.');
    }
    return errorAnswer(wire, error.status, error.message, error.headers);
  }
}

async function answer(asked: Route, wire: WireProtocol, exchange: Exchange): Promise<Answer> {
  const { request, target, key, lane, line, stop, ended } = exchange;
  checkNotFromBrowser(request.headers, lane.host);
  if (asked.kind === 'hello') return jsonAnswer(200, { ok: true });
  if (!hasKey(request.headers, target, lane.key, key)) {
    line.flags.push('unauthenticated');
    throw new RequestError(401, "The key is not this lane's. Use the key and the base URL of one lane.");
  }
  if (asked.kind === 'websocket') {
    // RFC 9110: a 426 names the protocol that it refers to.
    throw new RequestError(426, 'WebSocket is not supported here. Send the request as POST.', {
      headers: { upgrade: 'websocket' },
    });
  }
  checkEndpoint(asked, line, lane.access);
  const faults = asked.kind === 'reply' ? lane.nextFaults() : [];
  line.faults = faults.map((fault) => fault.kind);
  refuseByFault(faults);
  const body = await readBody(request, lane.clientLimits.body);
  line.request_bytes = body.length;
  await oneATurn();
  const call: Call = {
    method: request.method ?? '',
    target,
    headers: request.headers,
    route: asked,
    wire,
    body,
    line,
    signal: stop,
    ended: ended.promise,
  };
  if (asked.kind === 'reply') return modelReply(readModelCall(call, asked.target), faults, exchange);
  checkBudgets(lane.budgets);
  if (asked.kind !== 'count-tokens') return lane.source.other(call);
  return lane.source.countTokens(readModelCall(call, asked.target));
}

async function modelReply(call: ModelCall, faults: readonly Fault[], exchange: Exchange): Promise<Answer> {
  const { lane, stop } = exchange;
  // Not the parsed request, which is several times as large as its body: a reply may take minutes.
  exchange.asked = { body: call.body, read: readerOf(call) };
  lane.onRequest(call);
  checkBudgets(lane.budgets);
  for (const budget of lane.budgets) budget.admit();
  return (
    (await answerByFault(faults, call.wire, stop)) ??
    spoilAnswer(await lane.source.reply(call), faults, call.wire, stop)
  );
}

function refuseOverBudget(
  { message, limit, isShared }: OverBudget,
  wire: WireProtocol,
  line: LedgerLine,
): Answer {
  line.flags.push('over-budget');
  if (limit === 'price') line.flags.push('price-unknown');
  else if (isShared) line.flags.push('shared-budget');
  // The SDKs of OpenAI and Anthropic do not retry an answer with this header.
  return errorAnswer(wire, finalStatus(wire), message, { 'x-should-retry': 'false' });
}

/** Reads a call's body again. */
function readerOf({ wire, body, route }: ModelCall): AskedCall['read'] {
  const target = 'target' in route ? route.target : undefined;
  return () => wires[wire].parse(body, target);
}

function readModelCall(call: Call, target: RequestTarget | undefined): ModelCall {
  const { line, body, headers, wire } = call;
  const neutral = wires[wire].parse(body, target);
  line.agent_family = agentFamily(headers, neutral.tools);
  line.model_asked = neutral.model === '' ? null : bounded(neutral.model, 200);
  line.stream = neutral.stream;
  const offered = [...neutral.tools.map((tool) => tool.name), ...providerToolFields(wire, neutral.raw)];
  line.tools_offered = boundedNames(offered);
  return { ...call, neutral };
}

/** Aborts when the client is gone or the lane closes. One controller: a combined signal costs more than a small call. */
function stopOf(response: ServerResponse, closing: AbortSignal) {
  const stop = new AbortController();
  let isGone = false;
  response.once('close', () => {
    if (response.writableFinished || stop.signal.aborted) return;
    isGone = true;
    stop.abort(new Error('The client closed the connection.'));
  });
  const onClosing = (): void => stop.abort(closing.reason);
  if (closing.aborted) onClosing();
  closing.addEventListener('abort', onClosing);
  return {
    stop: stop.signal,
    isClientGone: () => isGone,
    release: () => closing.removeEventListener('abort', onClosing),
  };
}

/** Settles like `work`, or rejects as soon as the signal aborts; then nobody waits for `work` any more. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const elapsedSince = (startedAt: number): number => Math.round((performance.now() - startedAt) * 1000) / 1000;
