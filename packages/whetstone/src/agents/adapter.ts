/**
 * The public surface of `whetstone/adapter`: what an agent adapter is made of. Names and shapes are those of the adapter
 * reference; see docs/adapters.md.
 */
export type { InputRequest, JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
export type {
  CommandResult,
  RunOptions as RunOpts,
  Sandbox,
  SandboxFile,
} from '../sandbox/sandbox.ts';
export {
  type Agent,
  type AgentCapabilities,
  type AgentContext,
  type AgentDefinition,
  defineAgent,
  defineSandboxAgent,
  type HasCapability,
  type Turn,
  type TurnInput,
} from './agent.ts';
export type { HttpAnswer } from './http/answer-frames.ts';
export { fromChatCompletions } from './http/chat-completions.ts';
export { fromResponses } from './http/responses.ts';
export { fromUiMessages } from './http/ui-messages.ts';
export type { Observability } from './shared/observability.ts';
export type { WorkspaceFixture } from './shared/prepare-workspace.ts';
export type { ValidationResult } from './shared/run-validation.ts';
export { shared } from './shared/shared.ts';
