import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Usage } from '@whetstone/events';
import { onAbort, raceAbort } from '../control/race-abort.ts';
import type { AssistantPart } from '../conversation/turn.ts';
import type { Emit } from '../events/session-event.ts';
import type { CallGuard } from './call-guard.ts';
import { classifyLlmError, LlmError } from './llm-error.ts';
import { type CallIds, ResponseAssembler } from './response-assembler.ts';

/** One request, ready for the wire. */
export type ModelRequest = {
  model: LanguageModelV4;
  prompt: LanguageModelV4Prompt;
  tools: NonNullable<LanguageModelV4CallOptions['tools']>;
  /** Names of the tools whose input is plain text. */
  freeformTools: ReadonlySet<string>;
  maxOutputTokens: number | undefined;
  reasoningEffort: string | undefined;
  providerOptions: Record<string, JSONObject>;
  /** For a wire that can hold the answer to a schema. */
  responseFormat?: LanguageModelV4CallOptions['responseFormat'];
};

/** A whole response. A response that broke off is an `LlmError` instead. */
export type ModelResponse = {
  /** The model that was asked. The session may have another one by now. */
  model: LanguageModelV4;
  parts: AssistantPart[];
  finish: { unified: string; raw?: string };
  usage: Usage | undefined;
  responseId: string | undefined;
  /** The model that answered, where the provider says. */
  modelId: string | undefined;
};

export type ModelCallOptions = {
  request: ModelRequest;
  /** Knows the call ids that the conversation has already. */
  history: CallIds;
  emit: Emit;
  /** Of the submit. */
  signal: AbortSignal;
  /** For that signal. */
  guard: CallGuard;
  /** See `SessionConfig.streamIdleTimeoutMs`. */
  idleTimeoutMs: number;
};

/** Calls the model once, without retry. Rejects with an `LlmError` whatever goes wrong. */
export async function callModel(options: ModelCallOptions): Promise<ModelResponse> {
  const { request, emit, signal, guard } = options;
  const { model } = request;
  guard.begin(options.idleTimeoutMs);
  const assembler = new ResponseAssembler(emit, request.freeformTools, options.history);
  let opening: Promise<LanguageModelV4StreamResult> | undefined;
  try {
    opening = Promise.resolve(model.doStream(callOptions(request, guard.signal)));
    // A model need not listen to its signal.
    const opened = await raceAbort(opening, guard.signal, 0);
    if (!opened) throw guard.signal.reason;
    return await readStream(model, opened.stream, assembler, emit, guard);
  } catch (error) {
    assembler.discard();
    // A stream that opens after the call has failed must not stay open.
    opening?.then(({ stream }) => stream.cancel()).catch(() => {});
    if (guard.signal.aborted && !signal.aborted) {
      const message = `The model sent nothing for ${options.idleTimeoutMs} ms.`;
      throw new LlmError('model-timeout', message, { cause: error });
    }
    throw classifyLlmError(error, signal);
  } finally {
    guard.end();
  }
}

function callOptions(request: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions {
  const { prompt, tools, maxOutputTokens, reasoningEffort, providerOptions, responseFormat } = request;
  const headers = { 'x-whetstone-agent': 'loop' };
  const options: LanguageModelV4CallOptions = { prompt, tools, providerOptions, headers, abortSignal };
  if (tools.length > 0) options.toolChoice = { type: 'auto' };
  if (maxOutputTokens !== undefined) options.maxOutputTokens = maxOutputTokens;
  if (responseFormat) options.responseFormat = responseFormat;
  // The portable levels; a provider's own level is for the profile's provider options.
  const reasoning = reasoningEffort && EFFORTS.find((known) => known === reasoningEffort);
  if (reasoning) options.reasoning = reasoning;
  return options;
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

async function readStream(
  model: LanguageModelV4,
  stream: ReadableStream<LanguageModelV4StreamPart>,
  assembler: ResponseAssembler,
  emit: Emit,
  guard: CallGuard,
): Promise<ModelResponse> {
  let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  let failure: { error: unknown } | undefined;
  const reader = stream.getReader();
  // Cancelling settles the pending read, whether or not the model listens to its signal.
  const cancel = () => void reader.cancel().catch(() => {});
  const listening = onAbort(guard.signal, cancel);
  let isOver = false;
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      isOver = done;
      if (done) break;
      // A heartbeat is not progress.
      if (part.type !== 'ping') guard.refresh();
      if (part.type === 'finish') finish = part;
      else if (part.type === 'error') failure ??= { error: part.error };
      else assembler.accept(part);
    }
  } finally {
    listening[Symbol.dispose]();
    if (!isOver) cancel();
  }
  guard.signal.throwIfAborted();
  const unified = FAILED.has(finish?.finishReason.raw)
    ? 'error'
    : (finish?.finishReason.unified ?? 'interrupted');
  // The part that cannot be read is then the call that the model waits for.
  const lacksCall = unified === 'tool-calls' && !assembler.hasCall;
  if (failure && (lacksCall || BROKEN.has(unified))) throw failure.error;
  if (finish === undefined || unified === 'interrupted' || unified === 'error') {
    const reason = finish?.finishReason.raw;
    // Without a reason of the provider's the counts are those of an answer that was under way.
    const usage = finish && reason !== undefined ? toUsage(finish.usage) : undefined;
    const message = `The response of the model broke off (${reason ?? 'no finish'}).`;
    throw new LlmError('model-stream-broken', message, { usage });
  }
  // An unknown block becomes an error part in front of a normal finish: the response is good without it.
  if (failure)
    emit('WARNING', {
      code: 'provider',
      message: `Ignored a part of the response: ${classifyLlmError(failure.error, NEVER).message}`,
    });
  const { raw } = finish.finishReason;
  const { parts, responseId, modelId } = assembler.finish();
  const usage = toUsage(finish.usage);
  return {
    model,
    parts,
    responseId,
    modelId,
    usage,
    finish: raw === undefined ? { unified } : { unified, raw },
  };
}

/**
 * Reasons that say that the answer failed, which the packages sort under `other`: those of Gemini for answers that it
 * could not read itself (its package knows only `MALFORMED_FUNCTION_CALL`), and that of OpenRouter for a provider
 * behind it.
 */
const FAILED: ReadonlySet<unknown> = new Set(['MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'error']);

const BROKEN: ReadonlySet<string> = new Set(['interrupted', 'error', 'other']);

const NEVER = new AbortController().signal;

/** The provider's counts in exclusive buckets; `undefined` where it reported none. */
function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if ((inputTokens.total ?? inputTokens.noCache ?? outputTokens.total) === undefined) return undefined;
  const { cacheRead, cacheWrite } = inputTokens;
  const { reasoning } = outputTokens;
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const usage: Usage = {
    inputTokens: count(inputTokens.noCache ?? (inputTokens.total ?? 0) - cached),
    outputTokens: count(outputTokens.total ?? (outputTokens.text ?? 0) + (reasoning ?? 0)),
  };
  if (typeof cacheRead === 'number') usage.cacheReadTokens = count(cacheRead);
  if (typeof cacheWrite === 'number') usage.cacheWriteTokens = count(cacheWrite);
  if (typeof reasoning === 'number') usage.reasoningTokens = count(reasoning);
  return usage;
}

function count(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}
