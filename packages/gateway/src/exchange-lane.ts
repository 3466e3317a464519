import type { EndpointAccess } from './access.ts';
import type { BudgetAccount } from './budget.ts';
import type { PriceOf } from './call-price.ts';
import type { Exchange } from './exchanges/exchange-file.ts';
import type { Fault } from './faults/fault.ts';
import type { BodyLimits } from './request-body.ts';
import type { RetryCount } from './retry-count.ts';
import type { ModelCall, Source } from './source.ts';

export type ClientLimits = {
  body: BodyLimits;
  /** Longest time, in milliseconds, for which a client may leave what was sent to it unread. */
  maxUnreadMs: number;
};

export type ExchangeLane = {
  id: string;
  owner: string;
  key: string;
  source: Source;
  /** The address that the gateway listens on. */
  host: string;
  access: EndpointAccess;
  /** Counts a model call, and returns the faults that this call meets. */
  nextFaults: () => Fault[];
  /** Called with each model call that could be read, before it is answered. Contract: must not throw. */
  onRequest: (call: ModelCall) => void;
  /** Keeps the bodies of each readable model call when the call has ended. Does not wait. Absent: bodies are not kept. */
  keep: ((exchange: Exchange) => void) | undefined;
  /** The budgets that a model call is charged to: the lane's and the gateway's. */
  budgets: readonly BudgetAccount[];
  priceOf: PriceOf;
  retries: RetryCount;
  clientLimits: ClientLimits;
  /** Aborts when the lane closes. */
  closing: AbortSignal;
};
