/**
 * The public surface of `@whetstone/loop`: an embeddable coding-agent loop. Start with `Session`; a profile says what the
 * model gets, an environment where tools run, `createModel` who answers.
 */
export { applyPatch, type PatchChange, type PatchOutcome } from './apply-patch/apply-patch.ts';
export { type Clock, systemClock } from './clock.ts';
export type { ProjectDocument } from './context/project-documents.ts';
export type { EnvPolicy } from './environment/command-variables.ts';
export type {
  DirectoryEntry,
  ExecOptions,
  ExecResult,
  ExecutionEnvironment,
  FileStat,
} from './environment/execution-environment.ts';
export { type LocalEnvironmentOptions, LocalExecutionEnvironment } from './environment/local-environment.ts';
export { type EventListener, EventQueueOverflowError } from './event-hub.ts';
export { type CreateModelOptions, createModel } from './llm/create-model.ts';
export { LlmError, type LlmErrorCode } from './llm/llm-error.ts';
export type { PriceOf } from './loop-context.ts';
export type { Preamble } from './preamble.ts';
export { createAnthropicProfile } from './profiles/anthropic-profile.ts';
export { createOpenAiProfile } from './profiles/openai-profile.ts';
export type {
  ProfileOptions,
  ProviderProfile,
  ProviderRequest,
  SystemPromptParts,
} from './profiles/provider-profile.ts';
export {
  Session,
  type SessionOptions,
  type SessionState,
  SessionStateError,
  type SubmitResult,
} from './session.ts';
export type { SessionConfig } from './session-config.ts';
export type {
  EndReason,
  EventKind,
  LlmCallEnd,
  ProcessingEnd,
  SessionErrorData,
  SessionEvent,
  SessionEventData,
  SessionEventOf,
  ToolCallEnd,
} from './session-event.ts';
export type { SessionSnapshot } from './snapshot.ts';
export { createStreamEventMapper } from './stream-events.ts';
export type { ApprovalDecision, ApprovalHook, ApprovalRequest } from './tools/run-tool-calls.ts';
export {
  defineTool,
  type RegisteredTool,
  type ToolContext,
  type ToolDefinition,
  type ToolExecutor,
  type ToolOutput,
} from './tools/tool.ts';
export { ToolRegistry } from './tools/tool-registry.ts';
export { type OutputLimit, truncateOutput } from './tools/truncate.ts';
export {
  type AssistantPart,
  type AssistantTurn,
  assistantReasoning,
  assistantText,
  type ImagePart,
  type Input,
  type Part,
  type SteeringTurn,
  type SystemTurn,
  type TextPart,
  type ToolCallPart,
  type ToolResult,
  type ToolResultsTurn,
  type Turn,
  toolCallsOf,
  type UserTurn,
} from './turn.ts';
