import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import { addUsage, type Usage } from '@whetstone/events/usage';
import { plus } from '../control/budget.ts';
import { type Clock, monotonicMs } from '../control/clock.ts';
import type { LlmCallEnd, SessionErrorData } from '../events/session-event.ts';
import { CallGuard } from '../llm/call-guard.ts';
import { LlmError } from '../llm/llm-error.ts';
import { callModel, type ModelRequest, type ModelResponse } from '../llm/model-call.ts';
import { continuesWithoutReasoning, PromptBuilder, wireOf } from '../llm/prompt.ts';
import { catalogMaxOutput } from '../profiles/model-catalog.ts';
import { fitOutputLimit } from './context-window.ts';
import type { LoopContext } from './loop-context.ts';

/** Sends the conversation to the model, with retries where they help. Rejects with an `LlmError`. */
export async function askModel(context: LoopContext, signal: AbortSignal): Promise<ModelResponse> {
  try {
    return await callWithRetry(context, await buildRequest(context, signal), signal);
  } catch (error) {
    if (!(error instanceof LlmError) || !refusesReasoning(error, context)) throw error;
    context.foreignTurns = context.history.turns.length;
    context.prompt = undefined;
    context.emit('WARNING', {
      code: 'reasoning-dropped',
      message: `The provider does not take its reasoning back; trying without it: ${error.message}`,
    });
    return await callWithRetry(context, await buildRequest(context, signal), signal);
  }
}

/** Whether the provider refuses its own earlier reasoning: it cannot read it with another model or a rotated key. */
function refusesReasoning(error: LlmError, { history, foreignTurns }: LoopContext): boolean {
  return (
    error.code === 'model-request-invalid' &&
    /encrypted_content|encrypted content|signature/i.test(error.message) &&
    history.turns.some(
      (turn, index) =>
        index >= foreignTurns &&
        turn.kind === 'assistant' &&
        turn.parts.some((part) => part.type === 'reasoning'),
    )
  );
}

async function buildRequest(context: LoopContext, signal: AbortSignal): Promise<ModelRequest> {
  const preamble = await context.preamble(signal);
  // Read after the wait, in which the host may have set others.
  const { profile, model, config, history, tools, outputSchema, foreignTurns } = context;
  history.answerOpenCalls('No result: the call was not answered.');
  const wire = wireOf(model.provider);
  if (context.prompt?.provider !== model.provider || context.prompt.preamble !== preamble) {
    const builder = new PromptBuilder(wire, preamble, { foreignTurns });
    context.prompt = { builder, preamble, provider: model.provider };
  }
  const prompt = context.prompt.builder.build(history.turns);
  const offered = context.prompt.builder.tools(tools.definitions());
  const wanted =
    config.maxOutputTokens ?? profile.maxOutputTokens ?? catalogMaxOutput(model.provider, model.modelId);
  const request: ModelRequest = {
    model,
    prompt,
    tools: offered.tools,
    freeformTools: offered.freeformTools,
    maxOutputTokens: fitOutputLimit(context, wanted),
    reasoningEffort: config.reasoningEffort,
    providerOptions: requestOptions(context, prompt),
  };
  if (outputSchema && wire.responses) request.responseFormat = { type: 'json', schema: outputSchema };
  return request;
}

/** Whether the wire can hold an answer to a schema and offer tools at the same time. */
export function takesResponseFormat(model: LanguageModelV4): boolean {
  return wireOf(model.provider).responses;
}

function requestOptions(
  { profile, model, config, sessionId, outputSchema }: LoopContext,
  prompt: ModelRequest['prompt'],
) {
  const options = profile.providerOptions({ sessionId, reasoningEffort: config.reasoningEffort });
  if (thinksByBudget(model, config, options.anthropic?.thinking) && continuesWithoutReasoning(prompt))
    return { ...options, anthropic: { ...options.anthropic, thinking: { type: 'disabled' } } };
  if (!outputSchema || !takesResponseFormat(model)) return options;
  // The strict mode is off for a host's schema, because that need not fit the restrictions of the mode.
  return { ...options, openai: { ...options.openai, strictJsonSchema: false } };
}

/** Claude has a budget for thinking up to 4.5, or where the host gives it one. Later models take every history. */
function thinksByBudget(
  { provider, modelId }: LanguageModelV4,
  { reasoningEffort }: LoopContext['config'],
  thinking: unknown,
): boolean {
  if (wireOf(provider).family !== 'anthropic') return false;
  if (isJsonObject(thinking)) return thinking.type === 'enabled';
  return reasoningEffort !== undefined && BUDGET_MODEL.test(modelId);
}

const BUDGET_MODEL = /claude-(?:3|[a-z]+-4(?![-.][6-9](?!\d)))/;

/** One model call with its retries. The `WARNING` before a retry tells consumers to discard what was streamed. */
async function callWithRetry(
  context: LoopContext,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelResponse> {
  const { emit, clock, config, history } = context;
  const { model } = request;
  const identity = { model: model.modelId, provider: model.provider };
  emit('LLM_CALL_START', identity);
  context.callGuard ??= new CallGuard(signal);
  const guard = context.callGuard;
  let earlier: Spending | undefined;
  let unseen = 0;
  for (let attempt = 1; ; attempt += 1) {
    const started = monotonicMs();
    const ended = (data: Partial<LlmCallEnd>) => {
      const latencyMs = monotonicMs() - started;
      const unseenUsage = unseen > 0 ? { unseenUsage: unseen } : {};
      emit('LLM_CALL_END', {
        ...identity,
        latencyMs,
        retries: attempt - 1,
        ...earlier,
        ...unseenUsage,
        ...data,
      });
    };
    try {
      const response = await callModel({
        request,
        emit,
        signal,
        guard,
        idleTimeoutMs: config.streamIdleTimeoutMs,
        history,
      });
      const isMeant = MEANT_TO_BE_EMPTY.has(response.finish.unified);
      if (isEmpty(response) && !isMeant && attempt <= config.maxRetries) {
        const { usage } = response;
        throw new LlmError('model-response-empty', 'The model answered with nothing.', { usage });
      }
      if (!response.usage) unseen += 1;
      ended(accountFor(context, response, earlier));
      return response;
    } catch (error) {
      if (!(error instanceof LlmError)) throw error;
      if (!error.usage && BEGUN.has(error.code)) unseen += 1;
      if (error.usage) earlier = accountForAttempt(context, model, error.usage, earlier);
      const delayMs = retryDelay(error, attempt, config.maxRetries, clock);
      if (delayMs === undefined || signal.aborted) {
        ended({ error: errorData(error) });
        throw error;
      }
      const data = { attempt, delayMs: Math.round(delayMs), discard: true, error: error.code };
      const message = `Model call failed, trying again: ${error.message}`;
      emit('WARNING', { code: 'model-retry', message, data });
      await clock.sleep(delayMs, signal).catch(() => {});
      if (signal.aborted) {
        const aborted = new LlmError('model-call-aborted', 'The model call was aborted.');
        ended({ error: errorData(aborted) });
        throw aborted;
      }
    }
  }
}

/** The failures of an attempt that the provider may have begun to answer. */
const BEGUN: ReadonlySet<string> = new Set([
  'model-stream-broken',
  'model-response-empty',
  'model-timeout',
  'model-call-aborted',
]);

/** Whether the response has neither text nor a tool call. After tool calls there may be nothing to add. */
export function isEmpty({ parts }: ModelResponse): boolean {
  return parts.every(
    (part) => part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === ''),
  );
}

const MEANT_TO_BE_EMPTY: ReadonlySet<string> = new Set(['length', 'content-filter']);

type Spending = Pick<LlmCallEnd, 'usage' | 'costUsd'>;

function accountFor(
  { meter, priceOf }: LoopContext,
  response: ModelResponse,
  earlier: Spending | undefined,
): Partial<LlmCallEnd> {
  const { model, usage, finish, responseId, modelId } = response;
  const costUsd = usage && priceOf({ usage, provider: model.provider, model: modelId ?? model.modelId });
  meter.addCall(usage, costUsd);
  const end: Partial<LlmCallEnd> = { finish, ...sum(earlier, usage, costUsd) };
  if (modelId !== undefined) end.model = modelId;
  if (responseId !== undefined) end.responseId = responseId;
  return end;
}

/** An attempt is paid for, also where its answer is of no use. */
function accountForAttempt(
  { meter, priceOf }: LoopContext,
  { provider, modelId }: LanguageModelV4,
  usage: Usage,
  earlier: Spending | undefined,
): Spending {
  const costUsd = priceOf({ usage, provider, model: modelId });
  meter.addAttempt(usage, costUsd);
  return sum(earlier, usage, costUsd);
}

/** The cost is absent where that of one attempt is not known. */
function sum(earlier: Spending | undefined, usage: Usage | undefined, costUsd: number | undefined): Spending {
  const total = usage && earlier?.usage ? addUsage(earlier.usage, usage) : (usage ?? earlier?.usage);
  return present({ usage: total, costUsd: earlier ? plus(earlier.costUsd, costUsd) : costUsd });
}

export function errorData({ code, message, hint }: LlmError): SessionErrorData {
  return { code, message: hint === undefined ? message : `${message} ${hint}` };
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** Wait before a retry: what the provider asks for, up to a minute, else 1 s · 2ⁿ ± 50 %. `undefined`: give up. */
function retryDelay(error: LlmError, retry: number, maxRetries: number, clock: Clock): number | undefined {
  if (!error.retryable || retry > maxRetries) return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= LONGEST_DELAY_MS ? error.retryAfterMs : undefined;
  }
  const backoff = FIRST_DELAY_MS * 2 ** (retry - 1) * (0.5 + clock.random());
  return Math.min(backoff, LONGEST_DELAY_MS);
}
