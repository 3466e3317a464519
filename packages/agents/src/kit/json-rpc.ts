import type { JsonObject, JsonValue } from '@whetstone/events';
import type { Peer } from './dialogue.ts';
import { objectIn, textIn } from './fields.ts';

/** An id of a request. A program may count its own from 0, and they have nothing to do with ours. */
type RequestId = string | number;

/** What answers the program at the other end. */
export type RpcHandlers = {
  /** Answers a request. An `RpcError` becomes its answer, any other error the answer "internal error". */
  onRequest(method: string, params: JsonObject): Promise<JsonObject>;
  /** Notifications and answers come in the order in which the program wrote them. Must not throw. */
  onNotification(method: string, params: JsonObject): void;
};

/** JSON-RPC with a program, one message per line. The member `jsonrpc` is not sent, and not asked for. */
export type JsonRpc = {
  /**
   * Asks, and resolves with the result.
   * @throws RpcError the program's error, or `code` `ENDED` or `LATE` when no answer came
   */
  request(method: string, params: JsonObject, options?: { timeoutMs?: number }): Promise<JsonObject>;
  notify(method: string): void;
  /** Resolves when the program has ended. */
  ended: Promise<void>;
};

/** An answer that is an error. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Codes of JSON-RPC 2.0, and two of our own for answers that never came. */
export const RPC_CODES = { methodNotFound: -32601, internal: -32603, ended: -1, late: -2 } as const;

/** How many requests of the program may wait for their answers before its next message is read. */
const OPEN_LIMIT = 64;

/** Leads JSON-RPC over the messages of a program; `timeoutMs` limits each request that has no limit of its own. */
export function createJsonRpc(
  peer: Pick<Peer, 'send' | 'next'>,
  handlers: RpcHandlers,
  timeoutMs: number,
): JsonRpc {
  const waiting = new Map<RequestId, PromiseWithResolvers<JsonObject>>();
  const open = new Set<Promise<void>>();
  let lastId = 0;
  let hasEnded = false;

  async function answer(id: RequestId, method: string, params: JsonObject): Promise<void> {
    try {
      peer.send({ id, result: await handlers.onRequest(method, params) });
    } catch (error) {
      const { code, message } =
        error instanceof RpcError ? error : new RpcError(RPC_CODES.internal, 'internal error');
      peer.send({ id, error: { code, message } });
    }
  }

  async function receive({ id, method, params, result, error }: JsonObject): Promise<void> {
    if (typeof method === 'string') {
      if (!isId(id)) return handlers.onNotification(method, objectIn(params) ?? {});
      const answered = answer(id, method, objectIn(params) ?? {}).finally(() => open.delete(answered));
      open.add(answered);
      if (open.size >= OPEN_LIMIT) await Promise.race(open);
      return;
    }
    // The answer to a request that nobody waits for any more came too late.
    const asked = isId(id) ? waiting.get(id) : undefined;
    if (!asked || !isId(id)) return;
    waiting.delete(id);
    const failure = objectIn(error);
    if (failure) asked.reject(errorOf(failure));
    else asked.resolve(objectIn(result) ?? {});
  }

  async function read(): Promise<void> {
    for (let message = await peer.next(); message; message = await peer.next()) await receive(message);
    hasEnded = true;
    for (const asked of waiting.values()) asked.reject(endedError());
    waiting.clear();
  }

  return {
    async request(method, params, { timeoutMs: limit = timeoutMs } = {}) {
      if (hasEnded) throw endedError();
      lastId += 1;
      const id = lastId;
      const asked = Promise.withResolvers<JsonObject>();
      waiting.set(id, asked);
      const timer = setTimeout(() => {
        waiting.delete(id);
        asked.reject(new RpcError(RPC_CODES.late, `${method} was not answered within ${limit} ms.`));
      }, limit);
      peer.send({ id, method, params });
      return await asked.promise.finally(() => clearTimeout(timer));
    },
    notify: (method) => peer.send({ method }),
    ended: read(),
  };
}

const isId = (value: JsonValue | undefined): value is RequestId =>
  typeof value === 'number' || typeof value === 'string';

const errorOf = ({ code, message }: JsonObject): RpcError =>
  new RpcError(
    typeof code === 'number' ? code : RPC_CODES.internal,
    textIn(message) ?? 'an error without a message',
  );

const endedError = (): RpcError => new RpcError(RPC_CODES.ended, 'The program has ended.');
