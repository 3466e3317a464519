import { createHash } from 'node:crypto';
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
  if (lastWire?.provider !== provider) {
    const family = provider.split('.', 1)[0] ?? provider;
    lastWire = { provider, wire: { family, responses: provider === 'openai.responses' } };
  }
  return lastWire.wire;
}

/** Every round asks for the same wire several times. */
let lastWire: { provider: string; wire: Wire } | undefined;

/** Turns into messages for one wire. Each turn is converted once, and its message stays the same in every request. */
export class PromptBuilder {
  readonly #wire: Wire;
  readonly #messages: LanguageModelV4Message[];
  readonly #foreignTurns: number;
  #converted = 0;
  #tools: { definitions: readonly ToolDefinition[]; converted: RequestTools } | undefined;

  /** `foreignTurns`: so many turns from the first are sent as if another provider had made them. */
  constructor(wire: Wire, preamble: Preamble, { foreignTurns = 0 } = {}) {
    this.#wire = wire;
    this.#foreignTurns = foreignTurns;
    this.#messages = [
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
      if (message) this.#add(message);
    }
    const prompt = this.#messages.slice();
    if (this.#wire.family === 'anthropic') setCacheBreakpoints(prompt);
    return prompt;
  }

  /** A response that goes on after a pause becomes one message with what came before: Gemini refuses two in a row. */
  #add(message: LanguageModelV4Message): void {
    const last = this.#messages.at(-1);
    const joined =
      last?.role === 'assistant' && message.role === 'assistant'
        ? { ...last, content: [...last.content, ...message.content] }
        : undefined;
    if (joined) this.#messages.pop();
    this.#messages.push(joined ?? message);
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
  return typeof input === 'string' ? [{ type: 'text', text: input }] : withoutBlanks(input).map(textOrFile);
}

/** Anthropic refuses a blank text, also beside an image. */
function withoutBlanks(parts: readonly Part[]): Part[] {
  return parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
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
  const content: AssistantMessagePart[] = [];
  for (const part of turn.parts) {
    const converted = assistantPart(part, wire, own);
    if (converted) content.push(converted);
  }
  // A copy, because a list that grew has room for sixteen more, and the message is kept as long as the conversation.
  return content.length === 0 ? undefined : { role: 'assistant', content: content.slice() };
}

/** A part of another provider loses what only that provider can read: its metadata, its reasoning, its own tools. */
function assistantPart(part: AssistantPart, wire: Wire, own: boolean): AssistantMessagePart | undefined {
  const providerOptions = own ? part.providerMetadata : undefined;
  const options = providerOptions && { providerOptions };
  switch (part.type) {
    case 'text':
      // Anthropic refuses a blank text; another provider may have hung something on it that it wants back.
      if (part.text.trim() === '' && (!options || wire.family === 'anthropic')) return undefined;
      return { type: 'text', text: part.text, ...options };
    case 'reasoning':
      return own ? { type: 'reasoning', text: part.text, ...options } : undefined;
    case 'tool-call':
      if (part.providerExecuted && !own) return undefined;
      return {
        type: 'tool-call',
        toolCallId: safeId(part.callId, wire),
        toolName: safeName(part.name),
        input: toolInput(part, wire),
        ...(part.providerExecuted ? { providerExecuted: true } : undefined),
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

/** Arguments that do not parse still have to go back: as an object, because OpenAI's package quotes them once more. */
function toolInput(call: ToolCallPart, wire: Wire): unknown {
  if (call.freeform) return wire.responses ? call.input : { input: call.input };
  const parsed = parseJson(call.input);
  if (!isJsonObject(parsed)) return call.input.trim() === '' ? {} : { raw_arguments: call.input };
  return wire.responses ? call.input : parsed;
}

/** A model may call a tool that does not exist by a name that no provider takes back. */
function safeName(name: string): string {
  return name
    .replaceAll(/[^\w-]/g, '_')
    .replace(/^(?![A-Za-z_])/, '_')
    .slice(0, 64);
}

/**
 * An id that each of the three providers takes, whoever made it: one id always becomes the same one. Other wires get the
 * id as it came, because servers with models of their own read more into it.
 */
function safeId(id: string, { family, responses }: Wire): string {
  if (!STRICT_FAMILIES.has(family)) return id;
  const most = family === 'openai' && !responses ? 40 : 64;
  if (id.length <= most && /^[\w-]+$/.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${id.replaceAll(/[^\w-]/g, '_').slice(0, most - 17)}_${hash}`;
}

const STRICT_FAMILIES: ReadonlySet<string> = new Set(['anthropic', 'openai', 'google']);

/**
 * Whether the first response to the present input has no reasoning that can go back: another provider wrote it, or the
 * reasoning was off or refused. Anthropic then refuses a budget for thinking. A message directly after results is sent
 * together with them, and it is not known whether it begins a new input for Anthropic: both are looked at.
 */
export function continuesWithoutReasoning(prompt: LanguageModelV4Prompt): boolean {
  let first: AssistantMessagePart[] | undefined;
  let firstSinceMessage: AssistantMessagePart[] | undefined;
  let followsResults = false;
  for (const { role, content } of prompt) {
    if (role === 'user') firstSinceMessage = undefined;
    if (role === 'user' && !followsResults) first = undefined;
    if (role === 'tool') followsResults = true;
    if (role !== 'assistant') continue;
    followsResults = false;
    first ??= content;
    firstSinceMessage ??= content;
  }
  return [first, firstSinceMessage].some(
    (parts) => parts && parts.find(({ type }) => type !== 'custom')?.type !== 'reasoning',
  );
}

function toolResultPart(result: ToolResult, wire: Wire): LanguageModelV4ToolResultPart {
  const { content, isError } = result;
  // The OpenAI conversion wraps an error text in JSON; the model reads plain text better.
  const type = isError && wire.family !== 'openai' ? 'error-text' : 'text';
  const parts = typeof content === 'string' ? [] : withoutBlanks(content);
  const text = typeof content === 'string' ? content : '';
  const output: LanguageModelV4ToolResultOutput =
    parts.length === 0 ? { type, value: text } : { type: 'content', value: parts.map(textOrFile) };
  return {
    type: 'tool-result',
    toolCallId: safeId(result.callId, wire),
    toolName: safeName(result.name),
    output,
  };
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
