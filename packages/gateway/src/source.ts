import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './answer.ts';
import type { LedgerLine } from './ledger.ts';
import type { Route } from './route.ts';
import type { NeutralRequest, WireProtocol } from './wire/neutral.ts';

/** A request that carries its lane's key and has been read completely. */
export type Call = {
  method: string;
  /** The path and query below the lane's base URL. */
  target: string;
  headers: IncomingHttpHeaders;
  route: Route;
  /** The wire of the route, or the probable wire when the path belongs to none. */
  wire: WireProtocol;
  /** Decompressed. */
  body: Buffer;
  /** The call's ledger line, which the source fills in. */
  line: LedgerLine;
  /** Aborted when the client is gone or the lane closes. */
  signal: AbortSignal;
  /** Resolves when the call has ended in any way, and its line is complete and charged. */
  ended: Promise<void>;
};

/** A model call, or a request to count its tokens. A source that waits for an answer empties `neutral` before. */
export type ModelCall = Call & { neutral: NeutralRequest };

/** Where a lane's answers come from: a script, a provider, or a cassette. Its errors become error answers. */
export type Source = {
  reply(call: ModelCall): Promise<Answer>;
  countTokens(call: ModelCall): Promise<Answer>;
  /** Any other request: a list of models, a path that the gateway does not know. */
  other(call: Call): Promise<Answer>;
  /** Called once, after the lane's last call has ended. */
  close(): Promise<void>;
};
