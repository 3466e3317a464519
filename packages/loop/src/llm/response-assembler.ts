import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isJsonObject, type JsonValue, parseJson } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import type {
  AssistantPart,
  ProviderMetadata,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '../conversation/turn.ts';
import type { Emit } from '../events/session-event.ts';

type StreamPart<Type> = Extract<LanguageModelV4StreamPart, { type: Type }>;
type OpenBlock = { part: TextPart | ReasoningPart; ended: boolean };

/** Returns a call id that the conversation does not have yet. */
export type CallIds = { uniqueCallId(callId: string, taken: ReadonlySet<string>): string };

/** Puts the parts of one response together, in the order in which the provider began them, and reports as they grow. */
export class ResponseAssembler {
  readonly #emit: Emit;
  readonly #freeformTools: ReadonlySet<string>;
  readonly #history: CallIds;
  readonly #parts: AssistantPart[] = [];
  readonly #blocks = new Map<string, OpenBlock>();
  readonly #inputNames = new Map<string, string>();
  readonly #callIds = new Set<string>();
  #reasoning = '';
  #responseId: string | undefined;
  #modelId: string | undefined;

  constructor(emit: Emit, freeformTools: ReadonlySet<string>, history: CallIds) {
    this.#emit = emit;
    this.#freeformTools = freeformTools;
    this.#history = history;
  }

  accept(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
        this.#open(part.id, 'text', part.providerMetadata);
        return;
      case 'reasoning-start':
        this.#open(part.id, 'reasoning', part.providerMetadata);
        return;
      case 'text-delta':
      case 'reasoning-delta':
        this.#grow(part);
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#end(part.id, part.providerMetadata);
        return;
      case 'tool-input-start':
        this.#inputNames.set(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        this.#emit('TOOL_CALL_DELTA', {
          callId: part.id,
          name: this.#inputNames.get(part.id) ?? '',
          delta: part.delta,
        });
        return;
      case 'tool-call':
        this.#addCall(part);
        return;
      case 'tool-result':
        if (!part.preliminary) this.#addProviderResult(part);
        return;
      case 'custom':
        // The head of each answer of Anthropic's, also of an empty one. It does not go back.
        if (part.kind === 'anthropic.message_start') return;
        this.#parts.push({
          type: 'custom',
          kind: part.kind,
          ...present({ providerMetadata: part.providerMetadata }),
        });
        return;
      case 'response-metadata':
        this.#responseId = part.id ?? this.#responseId;
        this.#modelId = part.modelId ?? this.#modelId;
        return;
      case 'stream-start':
        for (const warning of part.warnings) {
          this.#emit('WARNING', { code: 'provider', message: JSON.stringify(warning) });
        }
        return;
    }
  }

  /** Whether the response has called a tool so far. */
  get hasCall(): boolean {
    return this.#callIds.size > 0;
  }

  /** The whole response. Blocks that the provider left open are closed. */
  finish(): { parts: AssistantPart[]; responseId: string | undefined; modelId: string | undefined } {
    if (this.#blocks.size > 0) this.#endAll();
    const parts = this.#parts.every(hasContent) ? this.#parts : this.#parts.filter(hasContent);
    return { parts, responseId: this.#responseId, modelId: this.#modelId };
  }

  /** Closes the brackets of a response that will be in no turn. */
  discard(): void {
    this.#endAll(true);
  }

  #endAll(discarded = false): void {
    for (const id of this.#blocks.keys()) this.#end(id, undefined, discarded);
  }

  #open(id: string, type: 'text' | 'reasoning', metadata: ProviderMetadata | undefined): OpenBlock {
    this.#end(id, undefined);
    const block: OpenBlock = { part: { type, text: '' }, ended: false };
    mergeMetadata(block.part, metadata);
    this.#parts.push(block.part);
    this.#blocks.set(id, block);
    this.#emit(type === 'text' ? 'ASSISTANT_TEXT_START' : 'REASONING_START', { blockId: id });
    return block;
  }

  #grow({ type, id, delta, providerMetadata }: StreamPart<'text-delta' | 'reasoning-delta'>): void {
    const known = this.#blocks.get(id);
    const { part } =
      known && !known.ended ? known : this.#open(id, type === 'text-delta' ? 'text' : 'reasoning', undefined);
    part.text += delta;
    mergeMetadata(part, providerMetadata);
    if (delta === '') return;
    this.#emit(part.type === 'text' ? 'ASSISTANT_TEXT_DELTA' : 'REASONING_DELTA', { blockId: id, delta });
  }

  #end(id: string, metadata: ProviderMetadata | undefined, discarded = false): void {
    const block = this.#blocks.get(id);
    if (block === undefined) return;
    mergeMetadata(block.part, metadata);
    if (block.ended) return;
    block.ended = true;
    const { part } = block;
    // A signed reasoning text must go back byte for byte; a provider that signs does not send half characters.
    if (part.type === 'text') part.text = part.text.toWellFormed();
    const discard = discarded ? { discarded } : {};
    if (part.type === 'reasoning') {
      this.#reasoning += part.text;
      this.#emit('REASONING_END', { blockId: id, text: part.text, ...discard });
      return;
    }
    const reasoning = this.#reasoning || undefined;
    this.#emit('ASSISTANT_TEXT_END', { blockId: id, text: part.text, ...present({ reasoning }), ...discard });
  }

  #addCall(part: StreamPart<'tool-call'>): void {
    const providerExecuted = part.providerExecuted === true;
    const callId = providerExecuted
      ? part.toolCallId
      : this.#history.uniqueCallId(part.toolCallId, this.#callIds);
    this.#callIds.add(callId);
    const freeform = this.#freeformTools.has(part.toolName);
    const name = part.toolName.toWellFormed();
    const input = freeform ? freeformText(part.input) : wellFormedJson(part.input);
    const call: ToolCallPart = { type: 'tool-call', callId, name, input };
    if (freeform) call.freeform = true;
    if (providerExecuted) call.providerExecuted = true;
    if (part.providerMetadata !== undefined) call.providerMetadata = part.providerMetadata;
    this.#parts.push(call);
  }

  #addProviderResult(part: StreamPart<'tool-result'>): void {
    this.#parts.push({
      type: 'provider-result',
      callId: part.toolCallId,
      name: part.toolName,
      result: part.result as JsonValue,
      ...present({ providerMetadata: part.providerMetadata }),
    });
  }
}

/** A blank block is refused when it goes back, unless the provider hung something on it. */
function hasContent(part: AssistantPart): boolean {
  if (part.type !== 'text' && part.type !== 'reasoning') return true;
  return part.text.trim() !== '' || part.providerMetadata !== undefined;
}

/** Grammar tools send their text as one JSON string. */
function freeformText(input: string): string {
  const value = parseJson(input);
  return (typeof value === 'string' ? value : input).toWellFormed();
}

/** A signature may come with the start, with an empty delta or with the end of its block. */
function mergeMetadata(part: TextPart | ReasoningPart, metadata: ProviderMetadata | undefined): void {
  if (metadata === undefined) return;
  const merged: ProviderMetadata = { ...part.providerMetadata };
  for (const [provider, values] of Object.entries(metadata))
    merged[provider] = { ...merged[provider], ...values };
  part.providerMetadata = merged;
}

/** JSON text without lone surrogates, raw or escaped: a provider refuses every later request with one. */
export function wellFormedJson(text: string): string {
  const raw = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(raw)) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), (_key, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : isJsonObject(value) ? wellFormedKeys(value) : value,
    );
  } catch {
    return raw.replaceAll(/\\u[dD][89a-fA-F][\da-fA-F]{2}/g, '\\ufffd');
  }
}

function wellFormedKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key.toWellFormed(), entry]));
}
