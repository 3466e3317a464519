import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { totalTokens } from '@whetstone/events';
import { agentFamily } from './agent-family.ts';
import type { Answer } from './answer.ts';
import type { PriceOf } from './call-price.ts';
import type { ExchangeLane } from './exchange-lane.ts';
import type { LedgerLine } from './ledger.ts';
import { estimateInputTokens, tokensFor } from './script/request-text.ts';
import { bounded, boundedNames } from './text.ts';
import type { NeutralRequest } from './wire/neutral.ts';

export function openLine(
  request: IncomingMessage,
  target: string,
  lane: Pick<ExchangeLane, 'id' | 'owner'>,
): LedgerLine {
  const [path = ''] = target.split('?', 1);
  return {
    id: randomUUID(),
    lane: lane.id,
    owner: lane.owner,
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
    price_source: null,
    queued_ms: 0,
    first_byte_ms: null,
    first_token_ms: null,
    total_ms: 0,
    tools_offered: [],
    stripped_tools: [],
    tools_called: [],
    finish: null,
    request_bytes: 0,
    response_bytes: 0,
    request_hash: null,
    retries: 0,
    faults: [],
    flags: [],
    step: null,
  };
}

/** A model call that could be read. */
export type AskedCall = {
  /** Decompressed. */
  body: Uint8Array;
  /** Parses the body. Rarely needed, so what it returns is not kept. */
  read: () => NeutralRequest;
};

type Ending = {
  answer: Answer | undefined;
  /** Absent unless it was a model call that could be read. */
  asked: AskedCall | undefined;
  /** `performance.now()` when the request arrived. */
  startedAt: number;
  lane: Pick<ExchangeLane, 'budgets' | 'priceOf' | 'retries'>;
};

/** Completes a line when its call has ended: what the answer reported, what the call cost, and how it counts. */
export function settleLine(line: LedgerLine, ending: Ending): void {
  const { answer, asked, lane } = ending;
  if (answer?.meter) readMeter(line, answer.meter, ending.startedAt, lane.priceOf);
  if (!asked) return;
  line.request_hash = createHash('sha256').update(asked.body).digest('hex');
  if (line.flags.includes('over-budget')) return;
  line.retries = lane.retries(asked.read, isAnswered(line));
  if (line.usage === null && !line.flags.includes('unmetered')) return;
  const tokens = line.usage ? totalTokens(line.usage) : estimatedTokens(asked.read(), line);
  for (const budget of lane.budgets) budget.charge({ tokens, costUsd: answer?.meter ? line.cost_usd : 0 });
}

/** Whether the agent got what it needs to continue: a complete reply, unchanged. */
const isAnswered = (line: LedgerLine): boolean =>
  line.outcome === 'ok' &&
  line.finish !== null &&
  line.finish !== 'error' &&
  line.faults.every((kind) => harmless.includes(kind));

const harmless = ['latency', 'slow-tokens'];

function readMeter(
  line: LedgerLine,
  meter: NonNullable<Answer['meter']>,
  startedAt: number,
  priceOf: PriceOf,
): void {
  const metered = meter.result();
  const firstOutputAt = meter.firstOutputAt();
  const failure = meter.failure();
  if (failure !== undefined) {
    if (line.outcome === 'ok') line.outcome = 'error';
    line.error ??= bounded(`The provider failed in its answer: ${failure.message}`, 2000);
    if (failure.kind && line.status !== null && line.status < 400)
      line.flags.push(`${failure.kind}-in-answer`);
  }
  if (line.outcome === 'ok' && meter.cutOff()) {
    line.outcome = 'error';
    line.error ??= 'The stream was cut off: it ended without the event that ends it.';
  }
  line.model_answered = metered.model === null ? line.model_asked : bounded(metered.model, 200);
  line.usage = metered.usage;
  line.finish = metered.finish === null ? null : bounded(metered.finish, 100);
  line.tools_called = boundedNames(metered.toolCalls);
  if (firstOutputAt !== undefined)
    line.first_token_ms = Math.round((firstOutputAt - startedAt) * 1000) / 1000;
  if (metered.cacheWrite1hTokens !== undefined) line.cache_write_1h_tokens = metered.cacheWrite1hTokens;
  if (metered.usage === null) line.flags.push('unmetered');
  else setPrice(line, priceOf);
}

function setPrice(line: LedgerLine, priceOf: PriceOf): void {
  const { wire, usage, model_answered: model } = line;
  if (!wire || !usage || !model) return;
  try {
    const price = priceOf({ wire, model, usage, cacheWrite1hTokens: line.cache_write_1h_tokens ?? 0 });
    line.cost_usd = price?.usd ?? null;
    line.price_source = price?.source ?? null;
  } catch {
    // When the price cannot be looked up, it is unknown.
  }
}

/** The usage of a reply that was cut off: the size of the request, and roughly what arrived. */
const estimatedTokens = (neutral: NeutralRequest, line: LedgerLine): number =>
  estimateInputTokens(neutral) + tokensFor(line.response_bytes);
