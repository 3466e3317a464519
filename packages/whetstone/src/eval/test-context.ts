import type {
  AgentCapabilities,
  JsonObject,
  PolicyRequest,
  StreamEvent,
  Turn,
  TurnInput,
  Usage,
} from '@whetstone/agents';
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

/** What an agent asks in the middle of a turn. */
export type Question = {
  kind: PolicyRequest['kind'];
  /** What it asks: the text of a question, a command, the name and input of a tool, paths. */
  prompt: string;
  /** Of a question: the answers to choose from. */
  options: readonly string[];
  /** All that is known of it. */
  request: PolicyRequest;
};

/**
 * `true` allows and `false` refuses; a text answers a question, or each of several; an object answers questions by their
 * ids or texts, and an elicitation by its fields.
 */
export type Answer = boolean | string | Readonly<Record<string, string>>;

/** Answers a question, or leaves it to the policy with `undefined`. */
export type Responder = (question: Question) => Answer | undefined | Promise<Answer | undefined>;

/** Answering what an agent asks, and letting somebody else talk with it. */
type Talk<Capabilities extends AgentCapabilities> = {
  /**
   * Answers from now on what the agent asks in the middle of a turn of this session, and what neither a rule of its policy
   * nor its permissions allow. Each answer is an `approval.decided` event with the rule `t.respond`.
   */
  respond(responder: Responder): void;
  /**
   * Answers the last `input.requested` of a turn with the status `waiting`, and resolves with the turn after it. Throws
   * when the last turn of this session does not wait.
   */
  respond(answer: Answer): Promise<TestTurn<Capabilities>>;
  /** Lets a simulated user talk with the agent in this session. */
  converse(user: SimulatedUser): Promise<Conversed<TestTurn<Capabilities>>>;
};

/**
 * A user that talks with the agent. `says`: its messages, or a function of the talk so far that gives the next one, and
 * `undefined` at the end. `goal`: what it wants; the model of `judge` plays it, with `opening` as its first message if it is
 * given. `limit`: the most messages that it sends. Default: 10.
 */
export type SimulatedUser = { limit?: number } & (
  | {
      says: readonly string[] | ((said: readonly Said[]) => string | undefined | Promise<string | undefined>);
    }
  | { goal: string; opening?: string }
);

export type Said = { by: 'user' | 'agent'; text: string };

/**
 * A talk. `ended`: the user has reached its goal or said everything (`reached`), has `given up`, would have gone on at its
 * `limit`, or a turn of the `agent` failed or waits.
 */
export type Conversed<Turn> = { turns: readonly Turn[]; ended: 'reached' | 'given up' | 'limit' | 'agent' };

type Conversation<Capabilities extends AgentCapabilities> = Talk<Capabilities> & {
  /** All assistant messages so far, joined by newlines. */
  readonly reply: string;
  /** Begins a session that knows nothing of the others. They share the workspace. */
  newSession(): TestSession<Capabilities> & Talk<Capabilities> & { readonly reply: string };
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
    /**
     * The way to the model of the `judge`, for scorers that call a model themselves. `key` opens only this lane of the
     * gateway. `model` is the name of the configured model without its provider; `undefined`: it has none.
     */
    judgeLane(): Promise<{ baseUrl: string; key: string; model: string | undefined }>;
    /** Writes a line to `eval.log` of the case. */
    log(message: string): void;
    /**
     * Ends the eval here: the case is `skipped`, with this reason in every output, and in no rate. What it asserted before is
     * recorded, and does not count.
     */
    skip(reason: string): never;
    /** Puts the assertions that are made in `body` under a heading. */
    group<Result>(name: string, body: () => Result): Result;
  };
