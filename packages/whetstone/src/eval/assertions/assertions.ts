import type { AgentCapabilities, StreamEvent } from '@whetstone/agents';
import type { Matcher } from '../expect/matcher.ts';
import type {
  Count,
  EventPattern,
  JsonPattern,
  TextPattern,
  ToolConditions,
  ToolPattern,
} from '../expect/patterns.ts';
import type { StandardSchema } from '../expect/standard-schema.ts';
import type { AssertionHandle, FileChange } from './assertion.ts';
import type { Moment } from './moments.ts';

/** What an agent may have done. */
export type Activities = {
  /** A shell command was run whose text contains this, that the expression matches, or that fits `commandMatch`. */
  ran(command: ToolPattern): AssertionHandle;
  /** A file was read, with a tool for it or by a shell command that names it. The path may be a glob. */
  read(path: TextPattern): AssertionHandle;
  /** A file was written or changed, as a tool call or the host reports it. The path may be a glob. */
  edited(path?: TextPattern): AssertionHandle;
  calledTool(tool: ToolPattern, conditions?: ToolConditions): AssertionHandle;
  event(pattern: EventPattern): AssertionHandle;
  /** A message of the agent contains this, or the expression matches it. */
  said(text: TextPattern): AssertionHandle;
};

export type ActivityWindow = Activities & { readonly never: Activities };

/** Where secrets are looked for: everywhere, what the agent wrote, what its tools got or gave back, or the changes. */
export type SecretPlace = 'any' | 'messages' | 'calls' | 'results' | 'changes';

/** On every agent. */
export type BasicAssertions = {
  /** The last turn ended with `completed`. */
  succeeded(): AssertionHandle;
  /** A value, or a promise of it, fits the matcher. A promise that rejects is `unavailable`. */
  check<Value>(value: Value | PromiseLike<Value>, matcher: Matcher<Value>): AssertionHandle;
  /**
   * The place is free of these secrets, in any usual encoding: as it is, JSON, percent-encoded, base64 or hex. Default:
   * the secrets that the host knows.
   */
  noSecretIn(place: SecretPlace, secrets?: readonly string[]): AssertionHandle;
  /** All tokens, cached ones included. */
  maxTokens(limit: number): AssertionHandle;
  maxCost(usd: number): AssertionHandle;
};

/** On agents with the capability `toolObservability`. */
export type ToolAssertions = {
  /** At least one call of the tool fits, or as many as `count` says. */
  calledTool(tool: ToolPattern, conditions?: ToolConditions & { count?: Count }): AssertionHandle;
  notCalledTool(tool: ToolPattern, conditions?: ToolConditions): AssertionHandle;
  /** These tools were called in this order; others may stand between them. */
  toolOrder(tools: readonly ToolPattern[]): AssertionHandle;
  usedNoTools(): AssertionHandle;
  maxToolCalls(limit: number): AssertionHandle;
  /** The skill entered the conversation: `skill.loaded`, or a completed call of `load_skill`. */
  loadedSkill(name: TextPattern): AssertionHandle;
  calledSubagent(
    name: TextPattern,
    conditions?: { output?: JsonPattern; status?: 'completed' | 'failed' | 'pending'; count?: Count },
  ): AssertionHandle;
  /** No tool call failed or was rejected, and no sub-agent failed. */
  noFailedActions(): AssertionHandle;
  event(pattern: EventPattern, conditions?: { count?: Count }): AssertionHandle;
  notEvent(pattern: EventPattern): AssertionHandle;
  /** These events happened in this order; others may stand between them. */
  eventOrder(patterns: readonly EventPattern[]): AssertionHandle;
  eventsSatisfy(label: string, predicate: (events: readonly StreamEvent[]) => boolean): AssertionHandle;
  /** Only what happened after the moment. If the moment never came, the assertion fails. */
  after(moment: Moment): ActivityWindow;
  /** With one moment: only what happened before it. With two: the first moment came before the second. */
  before(moment: Moment): ActivityWindow;
  before(first: Moment, second: Moment): AssertionHandle;
  /** `t.never.read(path)`: nothing of the kind happened. */
  readonly never: Activities;
  ran: Activities['ran'];
  read: Activities['read'];
  edited: Activities['edited'];
  said: Activities['said'];
  /** `t.within(5).turns`: it took at most so many turns, model calls or tool calls. Reading the property asserts. */
  within(limit: number): {
    readonly turns: AssertionHandle;
    readonly modelCalls: AssertionHandle;
    readonly toolCalls: AssertionHandle;
  };
};

/** On agents with the capability `workspace`. */
export type WorkspaceAssertions = {
  /** A changed file has this path, or fits this glob. */
  fileChanged(
    path: string,
    conditions?: { status?: FileChange['status']; before?: Matcher<string>; after?: Matcher<string> },
  ): AssertionHandle;
  fileDeleted(path: string): AssertionHandle;
};

/** `t.sandbox.diff`: how the workspace differs from its base, found from outside. */
export type WorkspaceDiff = {
  files(): Promise<readonly FileChange[]>;
  /** The text of a changed file now; `undefined` if it did not change or is not text. */
  get(path: string): Promise<string | undefined>;
  isEmpty(): Promise<boolean>;
  /** The unified diff of all files. */
  patch(): Promise<string>;
  /** No changed path is outside of these globs. */
  changedOnly(globs: readonly string[]): AssertionHandle;
  /** The unified diff does not contain this. */
  excludes(text: TextPattern): AssertionHandle;
};

/** On a turn: its structured answer, or its reply read as JSON where the agent gives no structured answer. */
export type OutputAssertions = {
  outputEquals(expected: unknown): AssertionHandle;
  outputMatches(expected: StandardSchema | Matcher<unknown>): AssertionHandle;
};

/** All assertions. Which of them `t`, a session or a turn offers depends on the agent's capabilities. */
export type Assertions = BasicAssertions &
  ToolAssertions &
  WorkspaceAssertions &
  OutputAssertions & { diff: WorkspaceDiff };

/** The assertions that an agent of these capabilities offers. `OutputAssertions` are only on turns. */
export type AssertionsFor<Capabilities extends AgentCapabilities> = BasicAssertions &
  (Capabilities extends { toolObservability: true } ? ToolAssertions : unknown) &
  (Capabilities extends { workspace: true } ? WorkspaceAssertions : unknown);
