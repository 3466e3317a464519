import { checkOverflow, checkStop } from '../control/check-hook-answer.ts';
import { askHook } from '../control/hooks.ts';
import { assistantText, type Input, type ToolCallPart } from '../conversation/turn.ts';
import type { EndReason, LimitKind } from '../events/session-event.ts';
import { LlmError } from '../llm/llm-error.ts';
import type { ModelResponse } from '../llm/model-call.ts';
import { askModel, errorData, isEmpty, takesResponseFormat } from './ask-model.ts';
import type { LoopContext, LoopOutcome, LoopStart } from './loop-context.ts';
import { checkOutput, outputInstruction, repairRequest } from './structured-output.ts';
import { abandonRound, answerCutOff, resumeRound, runRound } from './tool-round.ts';
import { warnAboutContext, warnAboutLoop } from './warnings.ts';

/** How many responses in a row may be cut off in a tool call, or paused by the provider, before the loop gives up. */
const MAX_CUT_OFFS = 3;
const MAX_PAUSES = 20;
/** How often `beforeStop` may continue one input. No other limit ends an input whose responses are only text. */
const MAX_CONTINUATIONS = 25;

/**
 * Works on one input until the model answers without calling a tool, a limit is reached, or the signal aborts (loop
 * spec 2.5).
 *
 * Contract: afterwards every tool call in the history has an answer, except for calls that are parked. Failures of the
 * model and of tools are part of the outcome; rejects only for a fault of the loop itself.
 */
export async function runLoop(
  context: LoopContext,
  start: LoopStart,
  signal: AbortSignal,
): Promise<LoopOutcome> {
  const { history, meter } = context;
  const progress = {
    text: '',
    rounds: 0,
    cutOffs: 0,
    pauses: 0,
    continuations: 0,
    loops: 0,
    repaired: false,
  };
  let warned = false;
  try {
    if (start.kind === 'input') begin(context, start.input);
    else {
      progress.rounds = context.parked?.rounds ?? 0;
      if (await resumeRound(context, start.decisions, signal)) return { reason: 'parked', text: '' };
      progress.rounds += 1;
      injectSteering(context);
    }
    for (;;) {
      // Limits
      const limit = reachedLimit(context, progress.rounds);
      if (limit) return { reason: limit, text: progress.text };

      // Ask the model
      signal.throwIfAborted();
      const response = await askOrShrink(context, signal);

      // Record the turn
      const calls = recordTurn(context, response);
      progress.text = assistantText(response);
      if (!warned) warned = warnAboutContext(context);
      refuseUncounted(context, response);

      // Decide by the reason for which the model stopped
      const step = nextStep(response, calls);
      progress.cutOffs = step === 'answer_cut_off' ? progress.cutOffs + 1 : 0;
      progress.pauses = step === 'continue_pause' ? progress.pauses + 1 : 0;
      if (progress.pauses > MAX_PAUSES) throw stuck('was paused again and again');
      if (step === 'continue_pause') continue;
      if (step === 'refused') return refused(context, response, progress.text);
      if (step === 'end') {
        warnWhenCutShort(context, response);
        // Otherwise a message that came in during the last call would wait for the next input.
        if (injectSteering(context)) continue;
        if (await continuedByHook(context, progress, signal)) continue;
        const answer = await checkAnswer(context, progress);
        if (answer === 'repair') continue;
        return { text: progress.text, ...answer };
      }

      // Run the tools
      if (step === 'run_tools') {
        if (await runRound(context, calls, progress.rounds, signal))
          return { reason: 'parked', text: progress.text };
      } else answerCutOff(context, calls);
      progress.rounds += 1;
      meter.addRound();
      if (progress.cutOffs >= MAX_CUT_OFFS)
        throw stuck(`was cut off in a tool call ${MAX_CUT_OFFS} times in a row`);

      // Steering and loop detection
      injectSteering(context);
      if (warnAboutLoop(context, calls)) progress.loops += 1;
      const { maxLoopWarnings } = context.config;
      if (maxLoopWarnings > 0 && progress.loops >= maxLoopWarnings) {
        context.emit('TURN_LIMIT', { limit: 'loop_warnings', value: maxLoopWarnings });
        return { reason: 'loop', text: progress.text };
      }
    }
  } catch (error) {
    if (context.parked === undefined) history.answerOpenCalls('No result: the session was interrupted.');
    return failed(context, error, signal, progress.text);
  }
}

function begin(context: LoopContext, input: Input): void {
  const { outputSchema, model } = context;
  context.loopDetector.reset();
  abandonRound(context, 'Not run: the user continued without a decision.');
  if (outputSchema && !takesResponseFormat(model))
    context.history.appendSystem(outputInstruction(outputSchema));
  context.history.appendUser(input);
  context.emit('USER_INPUT', { content: input });
  injectSteering(context);
}

function injectSteering({ steering, history, emit }: LoopContext): boolean {
  if (steering.messages.length === 0) return false;
  for (const content of steering.drain()) {
    emit('STEERING_INJECTED', { content: history.appendSteering(content).content });
  }
  return true;
}

/** Asks the model. Where the conversation is too long for it and a hook of the host shortens that, asks once more. */
async function askOrShrink(context: LoopContext, signal: AbortSignal): Promise<ModelResponse> {
  const { hooks, history, emit } = context;
  try {
    return await askModel(context, signal);
  } catch (error) {
    if (!(error instanceof LlmError) || error.code !== 'model-context-overflow') throw error;
    const { message } = error;
    emit('WARNING', { code: 'context-overflow', message });
    const { onContextOverflow } = hooks;
    const { turns } = history;
    const shorten = async () => checkOverflow(await onContextOverflow?.({ turns, message, signal }), turns);
    const answer = await askHook('onContextOverflow', onContextOverflow && shorten, { emit, signal });
    if (answer.kind !== 'answered') throw error;
    history.replace(answer.value.turns);
    context.prompt = undefined;
    context.foreignTurns = 0;
    return await askModel(context, signal);
  }
}

/** Returns the calls that the session has to answer. */
function recordTurn({ history }: LoopContext, response: ModelResponse): readonly ToolCallPart[] {
  const { model, parts, usage, responseId, modelId } = response;
  // Providers refuse a turn without content, and reasoning without the text or call that it led to.
  if (isEmpty(response)) return [];
  history.appendAssistant({
    parts,
    provider: model.provider,
    model: modelId ?? model.modelId,
    usage,
    responseId,
  });
  return history.openCalls();
}

/** A limit on what nobody counts would never be reached. */
function refuseUncounted({ meter }: LoopContext, { model, usage }: ModelResponse): void {
  if (meter.limitsTokens && usage === undefined)
    throw new LlmError(
      'model-configuration-invalid',
      `The budget limits the tokens, but ${model.modelId} did not report those of a call: have the provider report its usage, or limit \`turns\`.`,
    );
  if (!meter.limitsCost || meter.submit.costUsd !== undefined) return;
  throw new LlmError(
    'model-configuration-invalid',
    `The budget limits the cost, but the price of a call to ${model.modelId} is unknown: pass \`priceOf\` to the session.`,
  );
}

type Step = 'run_tools' | 'answer_cut_off' | 'continue_pause' | 'refused' | 'end';

function nextStep({ finish }: ModelResponse, calls: readonly ToolCallPart[]): Step {
  // Both wires report a pause as a normal stop; only the raw reason shows it.
  if (finish.raw === 'pause_turn') return 'continue_pause';
  if (finish.unified === 'content-filter' || finish.raw === 'refusal') return 'refused';
  if (calls.length === 0) return 'end';
  // The last of these calls is incomplete, and the earlier ones may depend on it.
  return finish.unified === 'length' ? 'answer_cut_off' : 'run_tools';
}

/** Characters of what a model said in place of an answer that the error about it quotes. */
const MOST_QUOTED = 1_000;

function refused({ history, emit }: LoopContext, { finish }: ModelResponse, text: string): LoopOutcome {
  history.answerOpenCalls('Not run: the response was stopped by a content filter.');
  const said = text.trim().slice(0, MOST_QUOTED).toWellFormed();
  const why = `The model or its provider refused (${finish.raw ?? finish.unified}).`;
  const message = said === '' ? why : `${why} It said: ${said}`;
  const error = { code: 'response-refused', message } as const;
  emit('ERROR', error);
  return { reason: 'refused', text, error };
}

function warnWhenCutShort({ emit }: LoopContext, response: ModelResponse): void {
  if (response.finish.unified === 'length') {
    const message = 'The answer was cut off at the output token limit.';
    emit('WARNING', { code: 'response-truncated', message });
  } else if (isEmpty(response)) {
    emit('WARNING', { code: 'response-empty', message: 'The model ended without an answer.' });
  } else if (response.finish.unified === 'other') {
    const reason = response.finish.raw ?? 'no reason';
    const message = `The answer may be incomplete: its provider does not say that it has ended (${reason}).`;
    emit('WARNING', { code: 'response-truncated', message });
  }
}

async function continuedByHook(
  { hooks, history, emit }: LoopContext,
  progress: { text: string; continuations: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { beforeStop } = hooks;
  const { text, continuations } = progress;
  const ask = async () => checkStop(await beforeStop?.({ text, continuations, signal }));
  const answer = await askHook('beforeStop', beforeStop && ask, { emit, signal });
  signal.throwIfAborted();
  if (answer.kind !== 'answered') return false;
  if (continuations >= MAX_CONTINUATIONS) {
    const message = `The hook beforeStop sent the model on ${MAX_CONTINUATIONS} times; the input ends anyway.`;
    emit('WARNING', { code: 'stop-hook', message });
    return false;
  }
  progress.continuations += 1;
  const { content } = history.appendSteering(answer.value.continueWith);
  emit('STEERING_INJECTED', { content });
  return true;
}

function stuck(why: string): LlmError {
  return new LlmError('model-request-invalid', `The model ${why}. Raise maxOutputTokens, or split the task.`);
}

function failed({ emit }: LoopContext, error: unknown, signal: AbortSignal, text: string): LoopOutcome {
  if (signal.aborted) return { reason: 'interrupted', text };
  if (!(error instanceof LlmError)) throw error;
  const data = errorData(error);
  emit('ERROR', data);
  const reason = error.code === 'model-context-overflow' ? 'context_overflow' : 'error';
  return { reason, text, error: data };
}

const REASONS: Readonly<Record<LimitKind, EndReason>> = {
  rounds: 'tool_rounds',
  turns: 'turns',
  tokens: 'tokens',
  cost: 'cost',
  wall_time: 'wall_time',
  loop_warnings: 'loop',
};

/** The limit that forbids another model call, if there is one. Emits `TURN_LIMIT` for it. */
function reachedLimit({ config, history, meter, emit }: LoopContext, rounds: number): EndReason | undefined {
  const { maxToolRoundsPerInput, maxTurns } = config;
  const reached =
    maxToolRoundsPerInput > 0 && rounds >= maxToolRoundsPerInput
      ? { limit: 'rounds' as const, value: maxToolRoundsPerInput }
      : maxTurns > 0 && history.assistantTurns >= maxTurns
        ? { limit: 'turns' as const, value: maxTurns }
        : meter.reached();
  if (!reached) return undefined;
  emit('TURN_LIMIT', reached);
  return REASONS[reached.limit];
}

/** Ends an input with its answer. `repair`: that does not fit the schema, and the model was asked, once, for another. */
async function checkAnswer(
  { outputSchema, history, emit }: LoopContext,
  progress: { text: string; repaired: boolean },
): Promise<Omit<LoopOutcome, 'text'> | 'repair'> {
  if (!outputSchema) return { reason: 'completed' };
  const checked = await checkOutput(progress.text, outputSchema);
  if (checked.ok) return { reason: 'completed', output: checked.output };
  const message = `The answer does not fit the schema: ${checked.reason}`;
  if (!progress.repaired) {
    progress.repaired = true;
    emit('WARNING', { code: 'output-invalid', message });
    const content = repairRequest(checked.reason, outputSchema);
    history.appendSteering(content);
    emit('STEERING_INJECTED', { content });
    return 'repair';
  }
  const error = { code: 'output-invalid', message } as const;
  emit('ERROR', error);
  return { reason: 'error', error };
}
