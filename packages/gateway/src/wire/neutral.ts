import type { JsonObject, Usage } from '@whetstone/events';

export const wireProtocols = [
  'openai-responses',
  'openai-chat-completions',
  'anthropic-messages',
  'gemini-generate-content',
] as const;

/** A provider's wire protocol that the gateway reads and writes. */
export type WireProtocol = (typeof wireProtocols)[number];

/** A tool that a request offers to the model. */
export type OfferedTool = {
  name: string;
  /**
   * `function`: called with a JSON object. `custom`: called with free text (OpenAI freeform tools).
   * `hosted`: run by the provider (web search, code execution), so nobody can call it through the agent.
   */
  kind: 'function' | 'custom' | 'hosted';
  description?: string;
  /** JSON Schema of the input; only function tools have one. */
  parameters?: JsonObject;
  /** The OpenAI tool namespace that the tool stands in; a call has to name it. */
  namespace?: string;
};

/** One call of an offered tool. `id` is the provider's call id, which the tool's result refers to. */
export type NeutralToolCall =
  | { kind: 'function'; id: string; name: string; namespace?: string; input: JsonObject }
  | { kind: 'custom'; id: string; name: string; namespace?: string; input: string };

type NeutralToolResult = { callId: string; name: string; output: string };

/**
 * One message of a conversation. What a model said in one reply (reasoning, text, calls) is one `assistant` message,
 * and the results of its calls are one `tool` message, however many items the wire has for them.
 */
export type NeutralMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; thinking: string; toolCalls: NeutralToolCall[] }
  | { role: 'tool'; toolResults: NeutralToolResult[] };

/** A model request of any wire. Items that the gateway does not know are left out here and kept in `raw`. */
export type NeutralRequest = {
  wire: WireProtocol;
  /** The model that was asked for; empty when the request names none. */
  model: string;
  stream: boolean;
  /** System and developer text, in order, wherever the wire puts it. */
  instructions: string;
  messages: NeutralMessage[];
  tools: OfferedTool[];
  /** JSON Schema that the text of the reply has to satisfy, where the request asks for structured output. */
  responseSchema?: JsonObject;
  /** The body as it came. */
  raw: JsonObject;
};

/** What a request's path says about it, on wires that put it there and not into the body. */
export type RequestTarget = { model?: string; stream?: boolean };

/** A model's reply, in any wire. */
export type NeutralReply = {
  /** Letters and digits; each wire puts its own prefix before it. */
  id: string;
  model: string;
  /** Unix time in seconds. */
  createdAt: number;
  thinking?: string;
  text?: string;
  toolCalls: NeutralToolCall[];
  usage: Usage;
  finish: 'stop' | 'tool-calls';
};
