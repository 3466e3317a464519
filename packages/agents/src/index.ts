/**
 * The public surface of `@whetstone/agents`: define agents, drive them, read what they did. Names and shapes of the
 * adapter surface are those of the adapter reference; see docs/adapters.md. `whetstone/adapter` has the same names, for
 * projects that install only `whetstone`.
 */

// What an agent did: the event vocabulary of `@whetstone/events`.

export {
  type AgentFacts,
  type AgentMetadata,
  type InputRequest,
  type JsonObject,
  type JsonValue,
  replyText,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';

// Where an agent's commands run: the interface of `@whetstone/sandbox`.

export type { CommandResult, RunOptions as RunOpts, Sandbox, SandboxFile } from '@whetstone/sandbox';

// Define an agent: an adapter that drives it for one turn.

export {
  type Agent,
  type Agent as AgentAdapter,
  type AgentCapabilities,
  type AgentContext,
  type AgentDefinition,
  type AttemptFiles,
  defineAgent,
  defineSandboxAgent,
  type HasCapability,
  type InputResponse,
  type Telemetry,
  type Turn,
  type TurnExit,
  type TurnInput,
} from './agent.ts';
export type { InputItem } from './kit/input-items.ts';
export { requireEnv } from './kit/require-env.ts';

// An adapter of the AI SDK's harness, as an agent.

export { defineHarnessAgent, type HarnessAgentOptions } from './harness/define-harness-agent.ts';
export type { Harness, HarnessPart, HarnessSandbox, HarnessSession } from './harness/harness.ts';

// Turn the answer of a model API into the turn of an adapter.

export type { HttpAnswer } from './http/answer-frames.ts';
export { fromChatCompletions } from './http/chat-completions.ts';
export { fromResponses } from './http/responses.ts';
export { fromUiMessages } from './http/ui-messages.ts';

// Help for adapters of agents that work in a sandbox.

export type { Observability } from './module/shared/observability.ts';
export type { WorkspaceFixture } from './module/shared/prepare-workspace.ts';
export type { ValidationResult } from './module/shared/run-validation.ts';
export { shared } from './module/shared/shared.ts';

// Make an agent: a released one, a command, a module or the loop.

export type {
  AgentOptions,
  CommandAgentOptions,
  DrivenAgentOptions,
  LoopAgentOptions,
  ModuleAgentOptions,
} from './agent-options.ts';
export { type AgentDependencies, createAgent } from './create-agent.ts';
export { findDrivenAgent } from './native/find-driven-agent.ts';
export {
  type DrivenAgentKind,
  drivenAgents,
  type KnownDrivenAgent,
  type NativeAgentKind,
} from './native/native-agents.ts';

// Drive an agent: one turn, or a conversation.

export { type DriveOptions, driveAgent } from './drive/drive-agent.ts';
export type { DrivenTurn } from './drive/driven-turn.ts';
export { type AgentSession, openSession, type TurnOptions } from './drive/open-session.ts';
export type { SessionOptions } from './drive/session-place.ts';
export { type TurnResult, turnResult } from './drive/turn-result.ts';
export type { AskHuman, PolicyDecision, PolicyRequest, PolicyRule } from './policy/policy.ts';

// What to give an agent besides the folder: skills, MCP servers, plugins.

export type {
  DeclaredContext,
  DeclaredPlugin,
  DeclaredSkill,
  McpServer,
  PluginContents,
} from './kit/declared-context.ts';

// What came of an attack, for tests of agents.

export { type ExploitEvidence, type ExploitStatus, exploitStatus } from './policy/exploit-status.ts';

// Read what agents printed and kept.

export { metadataFacts, type NativeOutput, type ParseOptions, parseNative } from './native/parse-native.ts';
export { ownTranscripts } from './transcripts/own-transcripts.ts';
export {
  readTranscripts,
  type SessionTranscript,
  type SkippedFile,
  type Transcript,
} from './transcripts/read-transcripts.ts';
