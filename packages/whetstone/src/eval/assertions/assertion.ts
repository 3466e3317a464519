import type { AgentCapabilities, Sandbox, StreamEvent, Turn, Usage } from '@whetstone/agents';

export type AssertionStatus = 'passed' | 'failed' | 'unavailable';

/** One assertion as it is recorded: in rows, on the page, in JUnit and in JSON. Plain JSON. */
export type AssertionRecord = {
  /** The call, for example `calledTool("shell")`. */
  name: string;
  label?: string;
  group?: string;
  /** `soft` is recorded and never fails the case. */
  severity: 'gate' | 'soft';
  /** Whether the case may pass although the assertion could not be evaluated. */
  optional: boolean;
  status: AssertionStatus;
  /** Of graded assertions, 0 to 1. */
  score?: number;
  /** The score at which the assertion passes. */
  threshold?: number;
  /** What the assertion is worth: its score times this counts for the case. */
  points?: number;
  /** Why, in plain English. A failure names its evidence. */
  message: string;
  evidence: {
    /** Indices into the events of the attempt, in order, each once. */
    events: number[];
    /** An excerpt of the evidence, for a reader without the events. */
    text?: string;
  };
  /** Where the eval calls the assertion. Lines and columns from 1. */
  at?: SourcePosition;
};

export type SourcePosition = { file: string; line: number; column: number };

/** An event and its index among the events of the attempt. */
export type IndexedEvent = { readonly index: number; readonly event: StreamEvent };

/** What an assertion looks at: a turn, a session or the whole attempt, as far as it has gone at the call. */
export type Subject = {
  scope: 'turn' | 'session' | 'attempt';
  /** In order. The same array for the same events lets assertions share what they derive from it. */
  events: readonly IndexedEvent[];
  /** Index of the first event of each turn, in order. Default: read from the events, which is certain for one session. */
  turnStarts?: readonly number[];
  capabilities: AgentCapabilities;
  /** `undefined`: nobody collected it. */
  usage: Usage | undefined;
  /** US dollars. `undefined`: unknown. */
  costUsd: number | undefined;
  reply: string;
  /** The structured answer. `undefined`: the agent gave none. */
  data: unknown;
  /** Of a turn: its status. Of a session or an attempt: that of the last turn. */
  status?: Turn['status'];
  /** How the workspace differs from its base. `undefined`: the agent has no workspace. */
  changes?: () => Promise<readonly FileChange[]>;
  sandbox?: Sandbox;
};

/** How one file differs from its base. */
export type FileChange = {
  /** Relative to the workspace, with `/`. */
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  /** The old path of a rename. */
  from?: string;
  /** The text of the file at the base. `undefined`: it did not exist, or it is not text. */
  before(): Promise<string | undefined>;
  /** The text of the file now. `undefined`: it does not exist, or it is not text. */
  after(): Promise<string | undefined>;
  /** The unified diff of this file. */
  patch: string;
};

/** What the evaluation of an assertion found, before the handle's settings. */
export type Verdict = {
  status: AssertionStatus;
  message: string;
  events?: readonly number[];
  text?: string;
  score?: number;
};

/** A named assertion and what was found. Its verdict never rejects. */
export type Claim = { name: string; verdict: Verdict | Promise<Verdict> };

/** A made assertion. It settles after the eval had its chance to set the handle. */
export type PendingAssertion = {
  /** The record with the handle's settings of now. Never rejects. */
  settle(): Promise<AssertionRecord>;
};

/**
 * Sets how an assertion counts; each method returns the same handle. Awaiting it gives the record, or throws
 * `StopEval` if the assertion did not pass and `orStop` was called.
 */
export type AssertionHandle = PromiseLike<AssertionRecord> & {
  /** Fails the case unless the assertion passes (the default), or unless its score is at least `threshold`. */
  gate(threshold?: number): AssertionHandle;
  /** Records the assertion, which then never fails the case. */
  soft(): AssertionHandle;
  /** Passes at this score; soft. */
  atLeast(score: number): AssertionHandle;
  /** The case gets the assertion's score times these points; a passed boolean assertion has score 1. */
  score(points: number): AssertionHandle;
  /** The case may pass although this assertion could not be evaluated. */
  optional(): AssertionHandle;
  /** With `await`: ends the eval here if the assertion does not pass. */
  orStop(): AssertionHandle;
  /** A name of your own for reports. */
  label(text: string): AssertionHandle;
};

/** Ends an eval that has nothing to find out here: `t.skip`. */
export class SkipEval extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SkipEval';
  }
}

/** Ends an eval at an assertion with `orStop`. The assertion is recorded; this is not an error of the eval's code. */
export class StopEval extends Error {
  readonly assertion: AssertionRecord;

  constructor(assertion: AssertionRecord) {
    super(`The eval stopped: ${assertion.name}: ${assertion.message}`);
    this.name = 'StopEval';
    this.assertion = assertion;
  }
}
