import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { AssistantPart } from '../conversation/turn.ts';
import type { Emit } from '../events/session-event.ts';
import { classifyLlmError, LlmError } from './llm-error.ts';
import { ResponseAssembler } from './response-assembler.ts';
import { toUsage } from './usage.ts';

/** One request, ready for the wire. */
export type ModelRequest = {
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
  parts: AssistantPart[];
  finish: { unified: string; raw?: string };
  usage: Usage | undefined;
  responseId: string | undefined;
  /** The model that answered, where the provider says. */
  modelId: string | undefined;
};

export type ModelCallOptions = {
  model: LanguageModelV4;
  request: ModelRequest;
  /** Tells a call id that the conversation does not have yet. */
  uniqueCallId: (callId: string, taken: ReadonlySet<string>) => string;
  emit: Emit;
  signal: AbortSignal;
  /** See `SessionConfig.streamIdleTimeoutMs`. */
  idleTimeoutMs: number;
};

/** Calls the model once, without retry. Rejects with an `LlmError` whatever goes wrong. */
export async function callModel(options: ModelCallOptions): Promise<ModelResponse> {
  const { model, request, emit, signal } = options;
  const guard = guardCall(signal, options.idleTimeoutMs);
  const assembler = new ResponseAssembler(emit, request.freeformTools, options.uniqueCallId);
  let opening: Promise<LanguageModelV4StreamResult> | undefined;
  try {
    opening = Promise.resolve(
      model.doStream({
        prompt: request.prompt,
        tools: request.tools,
        ...(request.tools.length > 0 ? { toolChoice: { type: 'auto' } } : {}),
        ...present({ maxOutputTokens: request.maxOutputTokens, responseFormat: request.responseFormat }),
        ...reasoning(request.reasoningEffort),
        providerOptions: request.providerOptions,
        headers: { 'x-whetstone-agent': 'loop' },
        abortSignal: guard.signal,
      }),
    );
    const { stream } = await abortable(opening, guard.signal);
    return await readStream(stream, assembler, emit, guard);
  } catch (error) {
    assembler.discard();
    // A stream that opens after nobody waits for it any more must not stay open.
    opening?.then(({ stream }) => stream.cancel()).catch(() => {});
    if (guard.signal.aborted && !signal.aborted) {
      throw new LlmError('model-timeout', `The model sent nothing for ${options.idleTimeoutMs} ms.`, {
        cause: error,
      });
    }
    throw classifyLlmError(error, signal);
  } finally {
    guard.release();
  }
}

const KNOWN_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** The portable levels go through the call option; a provider's own level is for the profile's provider options. */
function reasoning(effort: string | undefined): Pick<LanguageModelV4CallOptions, 'reasoning'> {
  const known = KNOWN_EFFORTS.find((level) => level === effort);
  return known === undefined ? {} : { reasoning: known };
}

async function readStream(
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
  guard.signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      if (done) break;
      // A heartbeat is no progress.
      if (part.type !== 'ping') guard.refresh();
      if (part.type === 'finish') finish = part;
      else if (part.type === 'error') failure ??= { error: part.error };
      else assembler.accept(part);
    }
  } finally {
    guard.signal.removeEventListener('abort', cancel);
    cancel();
  }
  guard.signal.throwIfAborted();
  const unified = finish?.finishReason.unified ?? 'interrupted';
  if (failure && BROKEN.has(unified)) throw failure.error;
  if (finish === undefined || unified === 'interrupted' || unified === 'error') {
    throw new LlmError(
      'model-stream-broken',
      `The response of the model broke off (${finish?.finishReason.raw ?? 'no finish'}).`,
    );
  }
  // An unknown block becomes an error part in front of a normal finish: the response is good without it.
  if (failure)
    emit('WARNING', {
      code: 'provider',
      message: `Ignored a part of the response: ${classifyLlmError(failure.error, NEVER).message}`,
    });
  return { ...assembler.finish(), finish: finishOf(finish), usage: toUsage(finish.usage) };
}

const BROKEN: ReadonlySet<string> = new Set(['interrupted', 'error', 'other']);

function finishOf({
  finishReason,
}: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ModelResponse['finish'] {
  return {
    unified: finishReason.unified,
    ...present({ raw: finishReason.raw }),
  };
}

const NEVER = new AbortController().signal;

/** `promise`, or a rejection as soon as the signal aborts: a model need not listen to it. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type CallGuard = { signal: AbortSignal; refresh: () => void; release: () => void };

/** A signal for one call: it aborts with the session's, and when the model stays silent for too long. */
function guardCall(outer: AbortSignal, idleTimeoutMs: number): CallGuard {
  const controller = new AbortController();
  const abort = () => controller.abort(outer.reason);
  const timer = idleTimeoutMs > 0 ? setTimeout(() => controller.abort(), idleTimeoutMs) : undefined;
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    refresh: () => timer?.refresh(),
    release: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
}
