import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { isJsonObject, parseJson } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import type { Preamble } from '../conversation/preamble.ts';
import type {
  AssistantPart,
  AssistantTurn,
  HistoryTurn,
  Input,
  Part,
  ToolCallPart,
  ToolResult,
} from '../conversation/turn.ts';
import { parametersOf, type ToolDefinition } from '../tools/tool.ts';
import type { ModelRequest } from './model-call.ts';

type AssistantMessagePart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** What distinguishes the wires for the conversion. Told by the model's `provider`, for example `openai.responses`. */
export type Wire = {
  /** The part of the provider's name before the dot; metadata belong to it. */
  family: string;
  /** OpenAI's Responses API: it takes grammar tools, and arguments as the text that the model wrote. */
  responses: boolean;
};

export function wireOf(provider: string): Wire {
  return { family: provider.split('.', 1)[0] ?? provider, responses: provider === 'openai.responses' };
}

/** Turns into messages for one wire. Each turn is converted once, and its message stays the same in every request. */
export class PromptBuilder {
  readonly #wire: Wire;
  readonly #preamble: LanguageModelV4Message[];
  readonly #messages: LanguageModelV4Message[] = [];
  readonly #foreignTurns: number;
  #converted = 0;
  #tools: { definitions: readonly ToolDefinition[]; converted: RequestTools } | undefined;

  /** `foreignTurns`: so many turns from the first are sent as if another provider had made them. */
  constructor(wire: Wire, preamble: Preamble, { foreignTurns = 0 } = {}) {
    this.#wire = wire;
    this.#foreignTurns = foreignTurns;
    this.#preamble = [
      ...(preamble.systemBlocks ?? [preamble.systemPrompt]).map(
        (content): LanguageModelV4Message => ({ role: 'system', content }),
      ),
      { role: 'user', content: [{ type: 'text', text: preamble.environmentContext }] },
    ];
  }

  build(turns: readonly HistoryTurn[]): LanguageModelV4Prompt {
    for (; this.#converted < turns.length; this.#converted += 1) {
      const turn = turns[this.#converted];
      const foreign = this.#converted < this.#foreignTurns;
      const message = turn && toMessage(turn, this.#wire, foreign);
      if (message) this.#messages.push(message);
    }
    const prompt = this.#preamble.concat(this.#messages);
    if (this.#wire.family === 'anthropic') setCacheBreakpoints(prompt);
    return prompt;
  }

  /** Converted again only where a definition is another one. */
  tools(definitions: readonly ToolDefinition[]): RequestTools {
    const known = this.#tools;
    if (known && sameItems(known.definitions, definitions)) return known.converted;
    const freeform = definitions.filter((tool) => tool.type === 'freeform' && this.#wire.responses);
    const converted = {
      tools: toModelTools(definitions, this.#wire),
      freeformTools: new Set(freeform.map((tool) => tool.name)),
    };
    this.#tools = { definitions, converted };
    return converted;
  }
}

type RequestTools = Pick<ModelRequest, 'tools' | 'freeformTools'>;

/** Anthropic caches up to a mark. Marks on the last two user-side messages let each round hit the one before. */
function setCacheBreakpoints(prompt: LanguageModelV4Prompt): void {
  const left = { system: 1, user: 2 };
  for (let index = prompt.length - 1; index >= 0; index -= 1) {
    const message = prompt[index];
    if (message === undefined || message.role === 'assistant') continue;
    const side = message.role === 'system' ? 'system' : 'user';
    if (left[side] === 0) continue;
    left[side] -= 1;
    prompt[index] = { ...message, providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
  }
}

function sameItems<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

function toMessage(turn: HistoryTurn, wire: Wire, foreign: boolean): LanguageModelV4Message | undefined {
  switch (turn.kind) {
    case 'user':
    case 'steering':
      return { role: 'user', content: userParts(turn.content) };
    case 'system':
      // A system message in the middle is refused by some providers; a note on the user's side is read by all.
      return {
        role: 'user',
        content: [{ type: 'text', text: `<system_note>\n${turn.content}\n</system_note>` }],
      };
    case 'assistant':
      return assistantMessage(turn, wire, foreign);
    case 'tool_results':
      return { role: 'tool', content: turn.results.map((result) => toolResultPart(result, wire)) };
  }
}

function userParts(input: Input): Extract<LanguageModelV4Message, { role: 'user' }>['content'][number][] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input.map(textOrFile);
}

/** Messages of the user and tool results have the same parts on the wire. */
function textOrFile(part: Part): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } };
}

function assistantMessage(
  turn: AssistantTurn,
  wire: Wire,
  foreign: boolean,
): LanguageModelV4Message | undefined {
  const own = !foreign && wireOf(turn.provider).family === wire.family;
  const content = turn.parts
    .map((part) => assistantPart(part, wire, own))
    .filter((part) => part !== undefined);
  // A copy, because `filter` leaves room for sixteen more, and the message is kept as long as the conversation.
  return content.length === 0 ? undefined : { role: 'assistant', content: content.slice() };
}

/** A part of another provider loses what only that provider can read: its metadata, its reasoning, its own tools. */
function assistantPart(part: AssistantPart, wire: Wire, own: boolean): AssistantMessagePart | undefined {
  const options = present({ providerOptions: own ? part.providerMetadata : undefined });
  switch (part.type) {
    case 'text':
      if (part.text === '' && !options.providerOptions) return undefined;
      return { type: 'text', text: part.text, ...options };
    case 'reasoning':
      return own ? { type: 'reasoning', text: part.text, ...options } : undefined;
    case 'tool-call':
      if (part.providerExecuted && !own) return undefined;
      return {
        type: 'tool-call',
        toolCallId: part.callId,
        toolName: safeName(part.name),
        input: toolInput(part, wire),
        ...(part.providerExecuted ? { providerExecuted: true } : {}),
        ...options,
      };
    case 'provider-result':
      if (!own) return undefined;
      return {
        type: 'tool-result',
        toolCallId: part.callId,
        toolName: part.name,
        output: { type: 'json', value: part.result },
        ...options,
      };
    case 'custom':
      return own ? { type: 'custom', kind: part.kind, ...options } : undefined;
  }
}

/** Arguments that do not parse still have to go back: as an object, because the other wires take nothing else. */
function toolInput(call: ToolCallPart, wire: Wire): unknown {
  if (wire.responses) return call.input;
  if (call.freeform) return { input: call.input };
  const parsed = parseJson(call.input);
  return isJsonObject(parsed) ? parsed : { raw_arguments: call.input };
}

/** A model may call a tool that does not exist by a name that no provider takes back. */
function safeName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_';
}

function toolResultPart(result: ToolResult, wire: Wire): LanguageModelV4ToolResultPart {
  const { content, isError } = result;
  // The OpenAI conversion wraps an error text in JSON; the model reads plain text better.
  const type = isError && wire.family !== 'openai' ? 'error-text' : 'text';
  const output: LanguageModelV4ToolResultOutput =
    typeof content === 'string'
      ? { type, value: content }
      : { type: 'content', value: content.map(textOrFile) };
  return { type: 'tool-result', toolCallId: result.callId, toolName: safeName(result.name), output };
}

/** The tools of a request for one wire, in the given order. */
export function toModelTools(
  definitions: readonly ToolDefinition[],
  wire: Wire,
): NonNullable<LanguageModelV4CallOptions['tools']> {
  return definitions.map((definition) => {
    const { name, description } = definition;
    if (definition.type === 'provider')
      return { type: 'provider', id: definition.id, name, args: definition.args };
    if (definition.type === 'freeform' && wire.responses) {
      const format = { type: 'grammar', ...definition.grammar };
      return { type: 'provider', id: 'openai.custom', name, args: { description, format } };
    }
    return { type: 'function', name, description, inputSchema: parametersOf(definition) };
  });
}
