/** The public surface of `@whetstone/events`: the vocabulary that every other package speaks. */
export {
  type AgentFacts,
  type AgentMetadata,
  deriveAgentMetadata,
  type ToolActivity,
} from './agent-metadata.ts';
export { isJsonObject, type JsonObject, type JsonValue, jsonOrText, parseJson } from './json.ts';
export { jsonValueSchema } from './json-value-schema.ts';
export type { Loss } from './loss.ts';
export { replyText } from './reply-text.ts';
export { onlyScript, type ShellCommand, shellCommand, shellName } from './shell-command.ts';
export {
  type EventEnvelope,
  type InputRequest,
  inputRequestSchema,
  parseStreamEvent,
  type StreamEvent,
  type StreamEventOf,
  type StreamEventType,
  streamEventSchema,
} from './stream-event.ts';
export { addUsage, emptyUsage, totalTokens, type Usage } from './usage.ts';
export { usageSchema } from './usage-schema.ts';
