import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { JsonValue, Usage } from '@whetstone/events';

/**
 * The conversation (loop spec 2.4). Turns are plain JSON, never changed once they are in a history, and keep what the
 * provider sent in its order: signatures, encrypted reasoning and item ids are worthless out of place.
 */

/** What a provider wants back with a part, by provider name. Opaque. */
export type ProviderMetadata = SharedV4ProviderMetadata;

export type TextPart = { type: 'text'; text: string; providerMetadata?: ProviderMetadata };
/** `data` is base64. */
export type ImagePart = { type: 'image'; data: string; mediaType: string };
/** What a user, a steering message or a tool result is made of. */
export type Part = TextPart | ImagePart;
/** A message from outside: a string stands for one text part. */
export type Input = string | readonly Part[];

export type ReasoningPart = { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata };
export type ToolCallPart = {
  type: 'tool-call';
  callId: string;
  name: string;
  /** JSON text as the model wrote it; for a freeform tool the raw text. */
  input: string;
  freeform?: boolean;
  /** Run by the provider, which also sends the result. */
  providerExecuted?: boolean;
  providerMetadata?: ProviderMetadata;
};
/** The result of a tool that the provider ran itself. */
export type ProviderResultPart = {
  type: 'provider-result';
  callId: string;
  name: string;
  result: JsonValue;
  providerMetadata?: ProviderMetadata;
};
/** Provider content without a shape of its own. */
export type CustomPart = { type: 'custom'; kind: `${string}.${string}`; providerMetadata?: ProviderMetadata };
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | ProviderResultPart | CustomPart;

export type ToolResult = {
  callId: string;
  name: string;
  /** What the model reads: truncated. */
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
  /** Whose metadata the parts carry, for example `openai.responses`. */
  provider: string;
  model: string;
  usage?: Usage;
  responseId?: string;
};
export type ToolResultsTurn = TurnBase & { kind: 'tool_results'; results: readonly ToolResult[] };
/** A note of the host to the model, for example that project instructions changed. */
export type SystemTurn = TurnBase & { kind: 'system'; content: string };
/** A message injected between tool rounds; the model reads it as the user's. */
export type SteeringTurn = TurnBase & { kind: 'steering'; content: Input };
export type Turn = UserTurn | AssistantTurn | ToolResultsTurn | SystemTurn | SteeringTurn;

/** The text that the assistant wrote in a turn. */
export function assistantText(turn: Pick<AssistantTurn, 'parts'>): string {
  return joinText(turn.parts, 'text');
}

/** The reasoning that the provider showed for a turn; empty where it shows none. */
export function assistantReasoning(turn: Pick<AssistantTurn, 'parts'>): string {
  return joinText(turn.parts, 'reasoning');
}

/** The calls of a turn that the session has to answer. */
export function toolCallsOf(turn: Pick<AssistantTurn, 'parts'>): ToolCallPart[] {
  return turn.parts.filter((part) => part.type === 'tool-call').filter((call) => !call.providerExecuted);
}

/** The text of a message; images are left out. */
export function inputText(input: Input): string {
  return typeof input === 'string' ? input : joinText(input, 'text');
}

function joinText(parts: readonly (AssistantPart | Part)[], type: 'text' | 'reasoning'): string {
  let text = '';
  for (const part of parts) if (part.type === type) text += part.text;
  return text;
}

/** Replaces lone surrogates: a provider refuses the request that carries one, and every later one. */
export function wellFormedInput(input: Input): Input {
  if (typeof input === 'string') return input.toWellFormed();
  return input.map((part) => (part.type === 'text' ? { ...part, text: part.text.toWellFormed() } : part));
}
