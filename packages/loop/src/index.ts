/**
 * The public surface of `@whetstone/loop`, an embeddable coding-agent loop. Start with `Session`. It takes a profile
 * (the model's tools and instructions), an environment (where the tools run) and a model (who answers).
 */
export { applyPatch, type PatchChange, type PatchOutcome } from './apply-patch/apply-patch.ts';
export type { ProjectDocument } from './context/project-documents.ts';
export type * from './control/approval.ts';
export type { Budget } from './control/budget.ts';
export { type Clock, systemClock } from './control/clock.ts';
export type { Block, HookedCall, Hooks } from './control/hooks.ts';
export type { SessionConfig } from './control/session-config.ts';
export type { Preamble } from './conversation/preamble.ts';
export type {
  SessionSnapshot,
  SubagentReport,
  SubagentSnapshot,
  SubagentStatus,
} from './conversation/snapshot.ts';
export {
  type AssistantPart,
  type AssistantTurn,
  assistantReasoning,
  assistantText,
  type HistoryTurn,
  type ImagePart,
  type Input,
  type Part,
  type SteeringTurn,
  type SystemTurn,
  type TextPart,
  type ToolCallPart,
  type ToolResult,
  type ToolResultsTurn,
  toolCallsOf,
  type UserTurn,
} from './conversation/turn.ts';
export type { EnvPolicy } from './environment/command-variables.ts';
export { type EnvironmentOperation, EnvironmentWrapper } from './environment/environment-wrapper.ts';
export type * from './environment/execution-environment.ts';
export { type LocalEnvironmentOptions, LocalExecutionEnvironment } from './environment/local-environment.ts';
export * from './environment/wrappers.ts';
export { type EventListener, EventQueueOverflowError } from './events/event-hub.ts';
export type {
  EndReason,
  EventKind,
  LimitKind,
  LlmCallEnd,
  ProcessingEnd,
  SessionErrorData,
  SessionEvent,
  SessionEventData,
  SessionEventOf,
  SubagentOrigin,
  ToolCallEnd,
} from './events/session-event.ts';
export { createStreamEventMapper } from './events/stream-events.ts';
export * from './llm/client.ts';
export { type CreateModelOptions, createModel } from './llm/create-model.ts';
export { LlmError } from './llm/llm-error.ts';
export type { LlmErrorCode } from './llm/provider-error.ts';
export type { OutputSchema } from './loop/structured-output.ts';
export { connectMcpServers, type McpConnections } from './mcp/connect-mcp-servers.ts';
export type { McpOptions, McpServer } from './mcp/mcp-server.ts';
export { type AnthropicProfileOptions, createAnthropicProfile } from './profiles/anthropic-profile.ts';
export { createGeminiProfile, type GeminiProfileOptions } from './profiles/gemini-profile.ts';
export * from './profiles/load-profile.ts';
export { catalogPriceOf, type PriceOf } from './profiles/model-catalog.ts';
export { createOpenAiProfile } from './profiles/openai-profile.ts';
export type * from './profiles/provider-profile.ts';
export { Session } from './session/session.ts';
export * from './session/session-options.ts';
export type { ResolvedModel, SubagentOptions } from './subagents/subagents.ts';
export type { AskUserToolSet, SubagentToolSet, ToolSet } from './tools/tool.ts';
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
