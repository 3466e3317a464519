import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Budget, type BudgetAccount, openBudget } from './budget.ts';
import { type ExchangeLane, runExchange } from './exchange.ts';
import { chooseFaults } from './faults/choose-faults.ts';
import type { FaultRule } from './faults/fault.ts';
import type { LaneMode } from './lane-mode.ts';
import { type LedgerLine, openLedger } from './ledger.ts';
import { openSource } from './open-source.ts';
import type { Prices } from './prices.ts';
import { countRetries } from './retry-count.ts';

export type LaneOptions = {
  /** The attempt that the lane belongs to: in every ledger line, and part of the seed of scripted chance. */
  attempt: string;
  mode: LaneMode;
  /** What goes wrong on purpose, in any mode. Rules that meet the same call all apply, in their order. */
  faults?: readonly FaultRule[];
  /** The lane's own limits; those of the gateway hold as well. */
  budget?: Budget;
  /** Called once for each finished call. Must not throw; what it throws is ignored. */
  onCall?: (line: LedgerLine) => void;
  /** A JSONL file that ledger lines are appended to as calls finish. Its folder must exist. */
  ledgerFile?: string;
};

/** One agent's way to its model: a base URL and a key of its own, and a ledger of what went through. */
export type Lane = {
  id: string;
  /** `http://HOST:PORT/lanes/ID`, without a slash at the end and without `/v1`. */
  baseUrl: string;
  /** Stands for the provider's key, and opens this lane only. */
  key: string;
  /** Environment variables that point agents and provider SDKs at the lane. */
  env: Record<string, string>;
  ledger: readonly LedgerLine[];
  /**
   * Ends the lane's open requests and waits until the ledger is written. Later requests get 404.
   * @throws GatewayError `ledger-unwritable` when a line could not be written to `ledgerFile`
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A lane together with the side of it that the server uses. */
export type ServedLane = {
  lane: Lane;
  /** Answers a request whose path and query below the lane's base URL are `target`. Never rejects. */
  serve(request: IncomingMessage, response: ServerResponse, target: string): Promise<void>;
};

/** What the gateway decides for its lanes. */
export type LanePlace = {
  gatewayUrl: string;
  maxBodyBytes: number;
  /** The account of all lanes together. */
  budget: BudgetAccount;
  prices: Prices;
  /** Called when the lane closes, before its open requests end. */
  onClose: (id: string) => void;
};

export async function openLane(options: LaneOptions, place: LanePlace): Promise<ServedLane> {
  const id = randomBytes(8).toString('hex');
  const key = `sk-whetstone-${randomBytes(24).toString('base64url')}`;
  const baseUrl = `${place.gatewayUrl}/lanes/${id}`;
  const ledger = await openLedger(options);
  const closing = new AbortController();
  const open = new Set<Promise<void>>();

  const { attempt, faults = [] } = options;
  const budgets = [openBudget(options.budget), place.budget];
  const source = await openSource(options.mode, {
    attempt,
    laneKey: key,
    laneUrl: baseUrl,
    limitsSpending: budgets.some((budget) => budget.limitsSpending),
  });
  let modelCalls = 0;
  const exchangeLane: ExchangeLane = {
    id,
    attempt,
    key,
    source,
    nextFaults() {
      modelCalls += 1;
      return chooseFaults(faults, modelCalls, attempt);
    },
    budgets,
    prices: place.prices,
    retries: countRetries(),
    maxBodyBytes: place.maxBodyBytes,
    closing: closing.signal,
  };

  async function serve(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const exchange = runExchange(request, response, target, exchangeLane).then(ledger.append);
    open.add(exchange);
    await exchange;
    open.delete(exchange);
  }

  async function end(): Promise<void> {
    place.onClose(id);
    closing.abort(new Error('The lane was closed.'));
    await Promise.all(open);
    const closed = await Promise.allSettled([source.close(), ledger.close()]);
    const failure = closed.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
  }

  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended ??= end();
    return ended;
  };

  return {
    lane: {
      id,
      baseUrl,
      key,
      env: laneEnvironment(baseUrl, key),
      ledger: ledger.lines,
      close,
      [Symbol.asyncDispose]: close,
    },
    serve,
  };
}

/** OpenAI's SDKs want `/v1` in the base URL; Anthropic's and Google's add their version themselves. */
const laneEnvironment = (baseUrl: string, key: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${baseUrl}/v1`,
  OPENAI_API_KEY: key,
  ANTHROPIC_BASE_URL: baseUrl,
  ANTHROPIC_API_KEY: key,
  GOOGLE_GEMINI_BASE_URL: baseUrl,
  GEMINI_API_KEY: key,
  WHETSTONE_GATEWAY_URL: baseUrl,
  WHETSTONE_GATEWAY_KEY: key,
});
