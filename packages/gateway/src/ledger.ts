import { open } from 'node:fs/promises';
import { messageOf } from '@whetstone/errors';
import type { Usage } from '@whetstone/events';
import type { AgentFamily } from './agent-family.ts';
import { GatewayError } from './gateway-error.ts';
import { jsonLinesFile, type MaskText } from './json-lines-file.ts';
import type { WireProtocol } from './wire/neutral.ts';

/**
 * One request that reached a lane, as one JSON line. Never contains a header or a key. Texts that the client chose
 * (path, model, names of tools) are cut to a bounded length.
 */
export type LedgerLine = {
  /** Unique in the lane's ledger. */
  id: string;
  lane: string;
  owner: string;
  /** When the request arrived, ISO 8601. */
  at: string;
  /** The protocol of the path; `null` when the path belongs to no protocol. */
  wire: WireProtocol | null;
  method: string;
  /** The path below the lane's base URL, without the query. */
  path: string;
  agent_family: AgentFamily;
  /** `null` when the request names no model or is not a model call. */
  model_asked: string | null;
  model_answered: string | null;
  stream: boolean;
  /** The HTTP status that was sent; `null` when the connection ended before a status was sent. */
  status: number | null;
  /** `error` also where a stream ended without the event that ends it on its wire. */
  outcome: 'ok' | 'error' | 'client-closed';
  /** What went wrong. Absent when nothing did. */
  error?: string;
  /** Tokens of the reply that was sent; `null` when the request got no model reply. */
  usage: Usage | null;
  /** The part of `usage.cacheWriteTokens` that was written for an hour, where the provider reports it. */
  cache_write_1h_tokens?: number;
  /** US dollars; `null` means unknown, not 0. */
  cost_usd: number | null;
  /** Where the price comes from, as the gateway's `priceOf` says; `null` when the cost is unknown. */
  price_source: string | null;
  /** How long the call waited for its turn at the provider, in milliseconds. The times below include it. */
  queued_ms: number;
  /** From the request's arrival to the start of the answer, in milliseconds; `null` without an answer. */
  first_byte_ms: number | null;
  /** From the request's arrival to the model's first output, in milliseconds; `null` without output and for a script. */
  first_token_ms: number | null;
  /** From the request's arrival to the end of the answer or of the connection, in milliseconds. */
  total_ms: number;
  /** Tools of the request, including the stripped ones and the provider's own. */
  tools_offered: string[];
  /**
   * What the gateway removed because the lane does not allow it: the provider's tools, and addresses that the provider
   * would fetch. By type or field (`web_search_20250305`, `image_url`).
   */
  stripped_tools: string[];
  tools_called: string[];
  /**
   * Why the model stopped: `stop`, `tool-calls`, `length`, `content-filter`, `error`, or the provider's own word for
   * another reason; `null` when the reply did not report it.
   */
  finish: string | null;
  /** Size of the decompressed request body, in bytes. */
  request_bytes: number;
  /** Bytes of the answer's body that were written to the connection. */
  response_bytes: number;
  /** SHA-256 of the decompressed request body, in hexadecimal; `null` when the body was not read. */
  request_hash: string | null;
  /** How many calls with the same conversation failed right before this one. Above 0, this call is a retry. */
  retries: number;
  /** Kinds of the faults that applied to this call. */
  faults: string[];
  /**
   * `auxiliary`: not a model call (a list of models, a token count, a probe, an unknown path). `side-request`: a model
   * call beside the agent's work, such as one for a title. `unauthenticated`: the lane's key was wrong or missing.
   * `endpoint-refused`: the lane does not serve this endpoint. `over-budget`: refused because a budget was used up;
   * `price-unknown`: because nobody knows what is left of it; `shared-budget`: it is that of all lanes. `replayed`: answered from a cassette; `nearest`: with the
   * exchange of another request (lenient replay). `forked`: a replay that went live. `unmetered`: a model replied, or
   * a paid call that is not a model call was forwarded, and its usage is unknown. `access-refused`: the provider keeps
   * refusing the key or the login, so the agent got a status at which it gives up. `limit-in-answer`, `outage-in-answer`:
   * in an answer that began with status 200, the provider named a limit or a failure of its own. `too-large`: the
   * provider's error, or one event of its stream, was larger than the gateway reads, and ended there. `unrecorded`: the answer was incomplete or too large, so it is not in the cassette.
   */
  flags: LedgerFlag[];
  /** Index of the script step that was played; `null` when no step was. */
  step: number | null;
};

export type LedgerFlag =
  | 'auxiliary'
  | 'side-request'
  | 'unauthenticated'
  | 'endpoint-refused'
  | 'over-budget'
  | 'price-unknown'
  | 'shared-budget'
  | 'replayed'
  | 'nearest'
  | 'forked'
  | 'unmetered'
  | 'access-refused'
  | 'limit-in-answer'
  | 'outage-in-answer'
  | 'too-large'
  | 'unrecorded';

export type LedgerOptions = {
  /** Called with each line; an error that it throws is ignored. */
  onCall?: (line: LedgerLine) => void;
  /** A JSONL file that lines are appended to. Its folder must exist. */
  ledgerFile?: string;
  mask?: MaskText;
};

/** @throws GatewayError `ledger-unwritable` when the file cannot be opened. */
export async function openLedger({ onCall, ledgerFile, mask }: LedgerOptions) {
  const lines: LedgerLine[] = [];
  const file = ledgerFile === undefined ? undefined : await openLedgerFile(ledgerFile, mask);

  return {
    lines: lines as readonly LedgerLine[],

    append(line: LedgerLine): void {
      lines.push(line);
      file?.append(line);
      try {
        onCall?.(line);
      } catch {
        // A listener's failure must not reach the agent's call.
      }
    },

    /** @throws GatewayError `ledger-unwritable` when a line could not be written. */
    close: async (): Promise<void> => file?.close(),
  };
}

async function openLedgerFile(where: string, mask: MaskText | undefined) {
  const unwritable = (cause: unknown): GatewayError => {
    const message = `The ledger cannot be written: ${messageOf(cause)}`;
    return new GatewayError('ledger-unwritable', message, { where, cause });
  };
  try {
    return jsonLinesFile<LedgerLine>(await open(where, 'a'), { unwritable, mask });
  } catch (error) {
    throw unwritable(error);
  }
}
