import type { JsonObject, Usage } from '@whetstone/events';

export const wireProtocols = [
  'openai-responses',
  'openai-chat-completions',
  'anthropic-messages',
  'gemini-generate-content',
] as const;

/** A provider's wire protocol that the gateway reads and writes. */
export type WireProtocol = (typeof wireProtocols)[number];

export type OfferedTool = {
  name: string;
  /**
   * `function`: called with a JSON object. `custom`: called with free text (OpenAI freeform tools).
   * `hosted`: run by the provider (web search, code execution), so it cannot be called through the agent.
   */
  kind: 'function' | 'custom' | 'hosted';
  description?: string;
  /** JSON Schema of the input; only function tools have one. */
  parameters?: JsonObject;
  /** The OpenAI tool namespace of the tool. A call must name it. */
  namespace?: string;
};

/** One call of an offered tool. `id` is the provider's call id, which the tool's result refers to. */
export type NeutralToolCall =
  | { kind: 'function'; id: string; name: string; namespace?: string; input: JsonObject }
  | { kind: 'custom'; id: string; name: string; namespace?: string; input: string };

/** The input of a call as the text that a model writes. */
export const inputText = (call: NeutralToolCall): string =>
  call.kind === 'custom' ? call.input : JSON.stringify(call.input);

/**
 * One message of a conversation. One reply of a model (reasoning, text, calls) is one `assistant` message, and the
 * results of its calls are one `tool` message, even if the wire has several items for them.
 */
export type NeutralMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; thinking: string; toolCalls: NeutralToolCall[] }
  | { role: 'tool'; toolResults: { callId: string; name: string; output: string }[] };

/** A model request of any wire. Items that the gateway does not know are only in `raw`. */
export type NeutralRequest = {
  wire: WireProtocol;
  /** The requested model; empty when the request names none. */
  model: string;
  stream: boolean;
  /** System and developer text, in order, from wherever the wire has it. */
  instructions: string;
  messages: NeutralMessage[];
  tools: OfferedTool[];
  /** The JSON Schema that the text of the reply must match, if the request asks for structured output. */
  responseSchema?: JsonObject;
  /** The body as it arrived. */
  raw: JsonObject;
};

/** What an agent sends its model before the user's first prompt, as it is in the request's body. */
export type RequestPrompt = {
  /** The texts of the system prompt in their order, including developer messages. */
  systemPrompt: string[];
  /** The tool definitions with all their fields. */
  tools: JsonObject[];
};

/** What a request's path says about it, on wires that do not have it in the body. */
export type RequestTarget = { model?: string; stream?: boolean };

/** A model's reply, in any wire. */
export type NeutralReply = {
  /** Letters and digits; each wire adds its own prefix. */
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
