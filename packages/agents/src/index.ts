/**
 * The public API of `@whetstone/agents`: the parts of an agent adapter, and the functions that drive and read agents.
 * Names and shapes of the adapter API follow the adapter reference; see docs/adapters.md.
 */
export {
  type AgentMetadata,
  type InputRequest,
  type JsonObject,
  type JsonValue,
  replyText,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
export type { CommandResult, RunOptions as RunOpts, Sandbox, SandboxFile } from '@whetstone/sandbox';
export {
  type Agent,
  type AgentCapabilities,
  type AgentContext,
  type AgentDefinition,
  type AttemptFiles,
  defineAgent,
  defineSandboxAgent,
  type HasCapability,
  type Telemetry,
  type Turn,
  type TurnInput,
} from './agent.ts';
export type {
  AgentOptions,
  CommandAgentOptions,
  DrivenAgentOptions,
  LoopAgentOptions,
  ModuleAgentOptions,
} from './agent-options.ts';
export { type AgentDependencies, createAgent } from './create-agent.ts';
export { type AttemptFolder, openAttemptFolder } from './drive/attempt-folder.ts';
export { type DriveOptions, driveAgent } from './drive/drive-agent.ts';
export type { DrivenTurn } from './drive/driven-turn.ts';
export { type AgentSession, openSession, type TurnOptions } from './drive/open-session.ts';
export type { SessionOptions } from './drive/session-place.ts';
export type { HttpAnswer } from './http/answer-frames.ts';
export { fromChatCompletions } from './http/chat-completions.ts';
export { fromResponses } from './http/responses.ts';
export { fromUiMessages } from './http/ui-messages.ts';
export { resolveAgentEnv } from './kit/agent-environment.ts';
export { agentSecrets } from './kit/agent-secrets.ts';
export type {
  DeclaredContext,
  DeclaredPlugin,
  DeclaredSkill,
  McpServer,
  PluginContents,
} from './kit/declared-context.ts';
export { leadsToGateway } from './kit/leads-to-gateway.ts';
export { placeContext, pluginFolders } from './kit/place-context.ts';
export { pluginContents } from './kit/plugin-contents.ts';
export { requireEnv } from './kit/require-env.ts';
export { disagree } from './kit/usage-disagrees.ts';
export { loopDefaults } from './loop/loop-defaults.ts';
export type { Observability } from './module/shared/observability.ts';
export type { WorkspaceFixture } from './module/shared/prepare-workspace.ts';
export type { ValidationResult } from './module/shared/run-validation.ts';
export { shared } from './module/shared/shared.ts';
export { findDrivenAgent } from './native/find-driven-agent.ts';
export type { Connection, DrivenAgent } from './native/native-agent.ts';
export { drivenAgents, type KnownDrivenAgent, type NativeAgentKind } from './native/native-agents.ts';
export { type NativeOutput, parseNative } from './native/parse-native.ts';
export {
  readTranscripts,
  type SessionTranscript,
  type SkippedFile,
  type Transcript,
} from './transcripts/read-transcripts.ts';
