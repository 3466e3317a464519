/** The public surface of `@whetstone/events`: the vocabulary that every other package speaks. */
export {
  type AgentFacts,
  type AgentMetadata,
  deriveAgentMetadata,
  type ToolActivity,
} from './agent-metadata.ts';
export { isJsonObject, type JsonObject, type JsonValue, jsonValueSchema, parseJson } from './json.ts';
export type { Loss } from './loss.ts';
export {
  type EventEnvelope,
  type InputRequest,
  inputRequestSchema,
  parseStreamEvent,
  replyText,
  type StreamEvent,
  type StreamEventOf,
  type StreamEventType,
  streamEventSchema,
} from './stream-event.ts';
export { addUsage, emptyUsage, totalTokens, type Usage, usageSchema } from './usage.ts';
