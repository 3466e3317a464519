import type { AgentCapabilities, JsonObject, StreamEvent, Turn, TurnInput, Usage } from '@whetstone/agents';
import type { Observability } from '@whetstone/agents/evals';
import type { AssertionHandle } from './assertions/assertion.ts';
import type { AssertionsFor, OutputAssertions, WorkspaceDiff } from './assertions/assertions.ts';

/** What a message to the agent may be: its text, or the text with what its turn needs besides. */
export type Message = string | TurnInput;

/** On agents with the capability `workspace`: what a clean room finds on the files of the moment of the call. */
export type CleanRoomAssertions = {
  /** The hidden tests of the fixture pass; without a fixture, `npm test` does. */
  testsPassed(): AssertionHandle;
  /** `npm run` of this script of package.json exits with 0. */
  scriptPassed(script: string): AssertionHandle;
};

/** On every agent, if the experiment or the project has a `judge`. */
export type JudgeAssertions = {
  /**
   * A judge finds the criterion met, or all of several criteria, by what the agent was told, said and did; its quotes are
   * checked against that. The score is the share of votes that say so. A judge that cannot be reached, has used up its
   * budget, or gives no verdict that counts makes the assertion unavailable.
   */
  judge(rubric: string | readonly string[], options?: JudgeOptions): AssertionHandle;
};

export type JudgeOptions = {
  /** What is judged in place of the turns: a text or another value, or a promise of it, such as `t.sandbox.diff.patch()`. */
  of?: unknown;
  /** How many votes decide, 1 to 25. Default: as the configuration of the judge says. */
  votes?: number;
  /** Default: the model of the judge, if it has one, else its agent. */
  by?: 'model' | 'agent';
};

type Assertions<Capabilities extends AgentCapabilities> = AssertionsFor<Capabilities> &
  JudgeAssertions &
  (Capabilities extends { workspace: true } ? CleanRoomAssertions : unknown);

/** One turn, and the assertions about it. */
export type TestTurn<Capabilities extends AgentCapabilities> = Assertions<Capabilities> &
  OutputAssertions & {
    readonly status: Turn['status'];
    readonly events: readonly StreamEvent[];
    /** The assistant messages of the turn, joined by newlines. */
    readonly reply: string;
    /** The structured answer; `undefined`: the agent gave none. */
    readonly data: unknown;
    readonly usage: Usage | undefined;
    /** US dollars, as the agent reports them. */
    readonly costUsd: number | undefined;
  };

/** A conversation of its own, and the assertions about all of its turns. */
export type TestSession<Capabilities extends AgentCapabilities> = Assertions<Capabilities> & {
  /**
   * Sends a message: the first begins the session, each further one resumes it. Resolves with the turn, also when the
   * agent failed.
   */
  send(message: Message, options?: { outputSchema?: JsonObject }): Promise<TestTurn<Capabilities>>;
  readonly events: readonly StreamEvent[];
  /** Sums over the turns; `undefined` where a turn does not report it. */
  readonly usage: Usage | undefined;
  readonly costUsd: number | undefined;
};

type Conversation<Capabilities extends AgentCapabilities> = {
  /** All assistant messages so far, joined by newlines. */
  readonly reply: string;
  /** Begins a session that knows nothing of the others. They share the workspace. */
  newSession(): TestSession<Capabilities> & { readonly reply: string };
};

type Workspace = {
  readonly sandbox: {
    /** How the workspace differs from its base, found from outside. */
    readonly diff: WorkspaceDiff;
  };
};

/** What `test(t)` gets: drives the agent, and asserts on everything that it did in the attempt. */
export type TestContext<Capabilities extends AgentCapabilities> = TestSession<Capabilities> &
  (Capabilities extends { conversation: true } ? Conversation<Capabilities> : unknown) &
  (Capabilities extends { workspace: true } ? Workspace : unknown) & {
    readonly flags: Readonly<Record<string, unknown>>;
    /** The model that the experiment asks for; `undefined`: the agent's own. */
    readonly model: string | undefined;
    /** Aborts at the time limit of the attempt and when the run is aborted. */
    readonly signal: AbortSignal;
    /** Counts of what the agent did, derived from its events. */
    readonly o11y: Observability;
    /** Writes a line to `eval.log` of the case. */
    log(message: string): void;
    /** Puts the assertions that are made in `body` under a heading. */
    group<Result>(name: string, body: () => Result): Result;
  };
