/** Something that goes wrong between an agent and its model. Times are in milliseconds. */
export type Fault =
  /** The answer begins later. */
  | { kind: 'latency'; ms: number }
  /** A provider's error (401, 429, 500, 529 or another) in the provider's shape, with `Retry-After` when it is set. */
  | { kind: 'status'; status: number; retryAfterSeconds?: number }
  /** The connection is reset before the request is read: as close as a listening server comes to a refusing port. */
  | { kind: 'refused' }
  /** The connection is reset after the request was read. */
  | { kind: 'reset' }
  /** No answer ever comes. */
  | { kind: 'hang' }
  /** The stream stops after `afterEvents` events (default 2); the connection stays open. A whole body stops halfway. */
  | { kind: 'hang-mid-stream'; afterEvents?: number }
  /** The stream ends after `afterEvents` events (default 2) as if it were complete. A whole body ends halfway. */
  | { kind: 'truncated'; afterEvents?: number }
  /** After `afterEvents` events (default 2), bytes that are not an event end the stream. A whole body is only those. */
  | { kind: 'garbage'; afterEvents?: number }
  /** The input of every tool call is broken: it is not valid JSON, or its provider would not let it through. */
  | { kind: 'malformed-tool-json' }
  /** A pause before each event of the stream. */
  | { kind: 'slow-tokens'; ms: number };

export type FaultKind = Fault['kind'];

/** Which model calls of the lane a fault applies to, in the order of their arrival. */
export type FaultOccasion =
  | { first: number }
  /** Every nth call: 3 means the third, the sixth, and so on. */
  | { every: number }
  /** Drawn for each call. The same seed (default 0) and the same lane owner give the same calls. */
  | { probability: number; seed?: string | number };

export type FaultRule = {
  fault: Fault;
  /** Default: every call. */
  when?: FaultOccasion;
};
