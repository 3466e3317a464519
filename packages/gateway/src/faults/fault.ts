/** Something that goes wrong between an agent and its model. Times are in milliseconds. */
export type Fault =
  /** The answer begins later. */
  | { kind: 'latency'; ms: number }
  /** An error of the provider (401, 429, 500, 529 or another) in its shape, with `Retry-After` when it is given. */
  | { kind: 'status'; status: number; retryAfterSeconds?: number }
  /**
   * The connection is reset before the request is read: as near as a server that listens can come to a port that
   * refuses.
   */
  | { kind: 'refused' }
  /** The connection is reset when the request was read. */
  | { kind: 'reset' }
  /** No answer ever comes. */
  | { kind: 'hang' }
  /** The stream stops after `afterEvents` events (default 2), and the connection stays. A whole body: after half of it. */
  | { kind: 'hang-mid-stream'; afterEvents?: number }
  /** The stream ends after `afterEvents` events (default 2) as if it were complete. A whole body: after half of it. */
  | { kind: 'truncated'; afterEvents?: number }
  /** After `afterEvents` events (default 2) comes what is no event, and the end. A whole body: nothing but that. */
  | { kind: 'garbage'; afterEvents?: number }
  /** The input of every tool call is broken: no valid JSON, or not what its provider lets through. */
  | { kind: 'malformed-tool-json' }
  /** A pause before each event of the stream. */
  | { kind: 'slow-tokens'; ms: number };

export type FaultKind = Fault['kind'];

/** Which model calls of the lane a fault meets, in the order of their arrival. */
export type FaultOccasion =
  | { first: number }
  /** The nth, the 2nth, … */
  | { every: number }
  /** Drawn for each call. The same seed (default 0) and the same lane owner give the same calls. */
  | { probability: number; seed?: string | number };

export type FaultRule = {
  fault: Fault;
  /** Default: every call. */
  when?: FaultOccasion;
};
