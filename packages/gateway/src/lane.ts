import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { runExchange } from './exchange.ts';
import type { LaneMode } from './lane-mode.ts';
import { type LedgerLine, openLedger } from './ledger.ts';

export type LaneOptions = {
  /** The attempt that the lane belongs to: in every ledger line, and part of the seed of scripted chance. */
  attempt: string;
  mode: LaneMode;
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
  /** Answers a request whose path below the lane's base URL is `path`. Never rejects. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
};

/** What the gateway decides for its lanes. */
export type LanePlace = {
  gatewayUrl: string;
  maxBodyBytes: number;
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

  const { attempt, mode } = options;
  const exchangeLane = { id, attempt, key, mode, maxBodyBytes: place.maxBodyBytes, closing: closing.signal };

  async function serve(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const exchange = runExchange(request, response, path, exchangeLane).then(ledger.append);
    open.add(exchange);
    await exchange;
    open.delete(exchange);
  }

  async function end(): Promise<void> {
    place.onClose(id);
    closing.abort(new Error('The lane was closed.'));
    await Promise.all(open);
    await ledger.close();
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

/** OpenAI's SDKs want `/v1` in the base URL, Anthropic's add it. */
const laneEnvironment = (baseUrl: string, key: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${baseUrl}/v1`,
  OPENAI_API_KEY: key,
  ANTHROPIC_BASE_URL: baseUrl,
  ANTHROPIC_API_KEY: key,
  WHETSTONE_GATEWAY_URL: baseUrl,
  WHETSTONE_GATEWAY_KEY: key,
});
