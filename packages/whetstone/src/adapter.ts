/**
 * The public surface of `whetstone/adapter`: what an agent adapter is made of, for projects that install only
 * `whetstone`.
 */
export {
  type Agent,
  type AgentCapabilities,
  type AgentContext,
  type AgentDefinition,
  type CommandResult,
  defineAgent,
  defineSandboxAgent,
  fromChatCompletions,
  fromResponses,
  fromUiMessages,
  type HasCapability,
  type HttpAnswer,
  type InputRequest,
  type JsonObject,
  type JsonValue,
  type Observability,
  type RunOpts,
  requireEnv,
  type Sandbox,
  type SandboxFile,
  type StreamEvent,
  shared,
  type Turn,
  type TurnInput,
  type Usage,
  type ValidationResult,
  type WorkspaceFixture,
} from '@whetstone/agents';
