import type {
  AgentCapabilities,
  PolicyDecision,
  PolicyRequest,
  StreamEvent,
  Turn,
  TurnInput,
} from '@whetstone/agents';
import type { JudgeLane } from '../config/config.ts';
import type { AssertionRecord, FileChange } from './assertions/assertion.ts';
import type { Judgement, JudgeRequest } from './judge/judgement.ts';
import type { UserReply, UserRequest } from './judge/user-prompt.ts';

/** What the process of the evals and the run say to each other. Each message is one structured clone. */

/** An eval that was found, as far as anyone but its own process may know it. Plain JSON. */
export type EvalDescription = {
  id: string;
  /** Absolute path of the file that defines it. */
  file: string;
  /** Its place in an array or a record of definitions; `null`: it is the whole default export. */
  key: string | null;
  description?: string;
  tags: string[];
  requires: AgentCapabilities;
  timeoutMs?: number;
  /** Absolute path of a folder. */
  fixture?: string;
};

/** A file that could not be read as evals, in one sentence. */
export type EvalFileProblem = { file: string; line?: number; column?: number; message: string };

/** A file with evals, or a folder with a PROMPT.md, which is one eval without code. */
export type EvalFile = { file: string; id: string };

/** What one attempt at an eval starts with. */
export type TestRequest = {
  file: string;
  key: string | null;
  id: string;
  flags: Readonly<Record<string, unknown>>;
  model?: string;
  agentName: string;
  capabilities: AgentCapabilities;
};

/** A turn as the eval sees it; its events come beside it, with the ids that the record gives them. */
export type SentTurn = Pick<Turn, 'status' | 'data' | 'usage' | 'costUsd'> & {
  events: StreamEvent[];
  /** Index of the first event among those of the attempt. */
  firstIndex: number;
};

/** A turn as `turns.json` of a case has it. Its events are lines of `events.jsonl`. */
export type StoredTurn = Omit<SentTurn, 'events'> & {
  session: number;
  /** What was sent; `null` in an imported case, whose turn answers any message. */
  text: string | null;
  eventCount: number;
};

/** A stored turn with its events, for a code that is called again without the agent. */
export type ReplayedTurn = StoredTurn & { events: StreamEvent[] };

/** How a file differs from the base, without its contents. */
export type SentChange = Omit<FileChange, 'before' | 'after'>;

/** What the code of an eval asks of the run while it runs. */
export type TestCalls = {
  /** `asks`: whether the eval answers what the agent asks in the session, from its first message on. */
  send: (session: number, input: TurnInput, asks: boolean) => Promise<SentTurn>;
  changes: () => Promise<SentChange[] | undefined>;
  /**
   * Runs the tests or a script of package.json in a clean room, on the files as they are now. `ahead`: how many stored turns
   * follow, in a code that plays them again.
   */
  check: (what: CleanRoomCheck, ahead?: number) => Promise<CheckResult>;
  /** These texts with what the host masks replaced, which the process of the evals never gets. `undefined`: there are no secrets. */
  masked: (texts: readonly string[]) => Promise<string[] | undefined>;
  /** The next message of a simulated user that a model plays. */
  user: (request: UserRequest) => Promise<UserReply>;
  /** The address and the key of the judge's lane, for scorers that call a model themselves. */
  judgeLane: () => Promise<JudgeLane & { model: string | undefined }>;
  judge: (request: JudgeRequest) => Promise<Judgement>;
  content: (path: string, side: 'before' | 'after') => Promise<string | undefined>;
};

export type CleanRoomCheck = { tests: true } | { script: string };

/** `broken`: the check itself could not run. */
export type CheckResult = { status: 'passed' | 'failed' | 'broken'; message: string };

/** Where the code of an eval threw, and what. */
export type TestFailure = { message: string; at?: { file: string; line: number; column: number } };

/** How the test function ended, before its assertions are judged. */
export type Tested = { failure?: TestFailure /** The reason that it gave to `t.skip`. */; skipped?: string };

/** All assertions of an attempt, judged. */
export type Settled = { assertions: AssertionRecord[] };

export type ToWorker =
  | { type: 'describe'; files: EvalFile[] }
  | { type: 'test'; request: TestRequest }
  | { type: 'settle' }
  | { type: 'replay'; request: TestRequest; turns: ReplayedTurn[] }
  | { type: 'abort'; reason: string }
  | { type: 'asked'; question: number; session: number; request: PolicyRequest }
  | { type: 'answer'; call: number; value?: unknown; error?: string };

export type FromWorker =
  | { type: 'described'; evals: EvalDescription[]; problems: EvalFileProblem[] }
  | { type: 'tested'; tested: Tested }
  | { type: 'settled'; settled: Settled }
  | { type: 'replayed'; replayed: Tested & Settled }
  | { type: 'log'; text: string }
  /** The code waits for a connection, a timer or a process of its own, such as a scorer that asks a model. */
  | { type: 'waiting' }
  | { type: 'decided'; question: number; decision?: PolicyDecision }
  | { type: 'call'; call: number; name: keyof TestCalls; args: unknown[] };
