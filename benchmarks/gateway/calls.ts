/** A server that a client calls as if it were the provider. */
export type Target = { url: string; headers: Record<string, string>; model: string };

export type Job = {
  /** Each call goes to all targets, one right after the other. */
  targets: Target[];
  bodyBytes: number;
  /** Per target. */
  calls: number;
  /** How many calls are under way at once. */
  atOnce: number;
};

/** Times of one call, in milliseconds. */
export type Call = {
  /** From the start of the request to the first and to the last byte of the answer's body. */
  firstByteMs: number;
  wholeMs: number;
  /** How much later than it was sent each event arrived, in the order of the events. */
  lagsMs: number[];
};

/** `calls` has a list per target. A failed call is `null`, so that the others can be paired. */
export type Measurement = { calls: (Call | null)[][]; failures: string[]; wallMs: number };
