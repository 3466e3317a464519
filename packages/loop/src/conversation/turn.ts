import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { JsonValue, Usage } from '@whetstone/events';

/*
 * The turns of a conversation (loop spec 2.4).
 *
 * Contract: a turn is plain JSON and never changes once it is in a history. Its parts stay in the order in which the
 * provider sent them, because signatures, encrypted reasoning and item ids are worth nothing in another place.
 */

/** What a provider wants to get back with a part, by provider name. Opaque to the loop. */
export type ProviderMetadata = SharedV4ProviderMetadata;

export type TextPart = { type: 'text'; text: string; providerMetadata?: ProviderMetadata };
/** `data` is the image in base64; `mediaType` is `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
export type ImagePart = { type: 'image'; data: string; mediaType: string };
/** What messages to the model and tool results consist of. */
export type Part = TextPart | ImagePart;
/** A message to the model. A string means one text part. */
export type Input = string | readonly Part[];

export type ReasoningPart = { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata };
export type ToolCallPart = {
  type: 'tool-call';
  callId: string;
  name: string;
  /** The arguments as the model wrote them: JSON, or the raw text where the tool is freeform. */
  input: string;
  freeform?: boolean;
  /** The provider runs this call and sends its result. */
  providerExecuted?: boolean;
  providerMetadata?: ProviderMetadata;
};
/** The result of a tool call that the provider has run. */
export type ProviderResultPart = {
  type: 'provider-result';
  callId: string;
  name: string;
  result: JsonValue;
  providerMetadata?: ProviderMetadata;
};
/** Content of a provider that has no part type here. The loop only sends it back. */
export type CustomPart = { type: 'custom'; kind: `${string}.${string}`; providerMetadata?: ProviderMetadata };
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | ProviderResultPart | CustomPart;

export type ToolResult = {
  callId: string;
  name: string;
  /** What the model reads, which is truncated. */
  content: string | Part[];
  isError: boolean;
};

type TurnBase = {
  id: string;
  /** ISO 8601 UTC. */
  timestamp: string;
};
export type UserTurn = TurnBase & { kind: 'user'; content: Input };
export type AssistantTurn = TurnBase & {
  kind: 'assistant';
  parts: readonly AssistantPart[];
  /** The provider whose metadata the parts carry, for example `openai.responses`. */
  provider: string;
  model: string;
  usage?: Usage;
  responseId?: string;
};
export type ToolResultsTurn = TurnBase & { kind: 'tool_results'; results: readonly ToolResult[] };
/** A note of the host to the model, for example that project instructions changed. */
export type SystemTurn = TurnBase & { kind: 'system'; content: string };
/** A message that was injected between tool rounds. The model reads it as a message of the user. */
export type SteeringTurn = TurnBase & { kind: 'steering'; content: Input };
/** One entry of a session's history (`Turn` in section 2.4 of the loop specification). */
export type HistoryTurn = UserTurn | AssistantTurn | ToolResultsTurn | SystemTurn | SteeringTurn;

/** The text that the assistant wrote in a turn. */
export function assistantText(turn: Pick<AssistantTurn, 'parts'>): string {
  return joinText(turn.parts, 'text');
}

/** The reasoning that the provider showed for a turn; empty where it showed none. */
export function assistantReasoning(turn: Pick<AssistantTurn, 'parts'>): string {
  return joinText(turn.parts, 'reasoning');
}

/** The tool calls of a turn that the session has to answer: all but those that the provider runs. */
export function toolCallsOf(turn: Pick<AssistantTurn, 'parts'>): ToolCallPart[] {
  return turn.parts.filter((part) => part.type === 'tool-call' && !part.providerExecuted) as ToolCallPart[];
}

/** The text of a message, without its images. */
export function inputText(input: Input): string {
  return typeof input === 'string' ? input : joinText(input, 'text');
}

function joinText(parts: readonly (AssistantPart | Part)[], type: 'text' | 'reasoning'): string {
  let text = '';
  for (const part of parts) if (part.type === type) text += part.text;
  return text;
}

/** The message without lone surrogates: a provider refuses every request whose history has one. */
export function wellFormedInput(input: Input): Input {
  if (typeof input === 'string') return input.toWellFormed();
  return input.map((part) => (part.type === 'text' ? { ...part, text: part.text.toWellFormed() } : part));
}
