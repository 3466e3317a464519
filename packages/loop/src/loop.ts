import { askModel, errorData, isEmpty } from './ask-model.ts';
import { LlmError } from './llm/llm-error.ts';
import type { ModelResponse } from './llm/model-call.ts';
import type { LoopContext } from './loop-context.ts';
import type { EndReason, SessionErrorData } from './session-event.ts';
import { answerWithoutRunning, runToolCalls } from './tools/run-tool-calls.ts';
import { assistantText, type Input, type ToolCallPart, toolCallsOf } from './turn.ts';

export type LoopOutcome = { reason: EndReason; text: string; error?: SessionErrorData };

/** Responses in a row that may be cut off in a tool call, or paused by the provider, before the loop gives up. */
const MAX_CUT_OFFS = 3;
const MAX_PAUSES = 20;

/**
 * Works on one input until the model answers without calling a tool, a limit is reached, or the signal aborts (loop
 * spec 2.5). Leaves a history whose every tool call is answered. Rejects only for a fault of its own.
 */
export async function runLoop(context: LoopContext, input: Input, signal: AbortSignal): Promise<LoopOutcome> {
  const { history, emit } = context;
  context.loopDetector.reset();
  history.appendUser(input);
  emit('USER_INPUT', { content: input });
  injectSteering(context);

  let text = '';
  let rounds = 0;
  let cutOffs = 0;
  let pauses = 0;
  let warned = false;
  try {
    for (;;) {
      // Limits
      const limit = reachedLimit(context, rounds);
      if (limit) return { reason: limit, text };

      // Ask the model
      signal.throwIfAborted();
      const response = await askModel(context, signal);

      // Record the turn
      const calls = recordTurn(context, response);
      text = assistantText(response);
      if (!warned) warned = warnAboutContext(context);

      // Decide by the reason for which the model stopped
      const step = nextStep(response, calls);
      cutOffs = step === 'answer_cut_off' ? cutOffs + 1 : 0;
      pauses = step === 'continue_pause' ? pauses + 1 : 0;
      if (pauses > MAX_PAUSES) throw stuck('was paused again and again');
      if (step === 'continue_pause') continue;
      if (step === 'refused') return refused(context, response, text);
      if (step === 'end') {
        warnWhenCutShort(context, response);
        // A message that came in during the last call would wait for the next input otherwise.
        if (injectSteering(context)) continue;
        return { reason: 'completed', text };
      }

      // Run the tools
      rounds += 1;
      context.totals.toolRounds += 1;
      if (step === 'run_tools') history.appendToolResults(await runTools(context, calls, signal));
      else answerCutOff(context, calls);
      if (cutOffs >= MAX_CUT_OFFS) throw stuck(`was cut off in a tool call ${MAX_CUT_OFFS} times in a row`);

      // Steering and loop detection
      injectSteering(context);
      warnAboutLoop(context, calls);
    }
  } catch (error) {
    return failed(context, error, signal, text);
  }
}

function injectSteering({ steering, history, emit }: LoopContext): boolean {
  const messages = steering.splice(0);
  for (const content of messages) {
    history.appendSteering(content);
    emit('STEERING_INJECTED', { content });
  }
  return messages.length > 0;
}

function reachedLimit({ config, history, emit }: LoopContext, rounds: number): EndReason | undefined {
  const { maxToolRoundsPerInput, maxTurns } = config;
  if (maxToolRoundsPerInput > 0 && rounds >= maxToolRoundsPerInput) {
    emit('TURN_LIMIT', { limit: 'rounds', value: maxToolRoundsPerInput });
    return 'tool_rounds';
  }
  if (maxTurns > 0 && history.assistantTurns >= maxTurns) {
    emit('TURN_LIMIT', { limit: 'turns', value: maxTurns });
    return 'turns';
  }
  return undefined;
}

const WARN_AT = 0.8;
const CHARACTERS_PER_TOKEN = 4;

/** Spec 5.5. Whether there was something to warn of. */
function warnAboutContext({ history, prompt, profile, emit }: LoopContext): boolean {
  const preamble =
    (prompt?.preamble.systemPrompt.length ?? 0) + (prompt?.preamble.environmentContext.length ?? 0);
  const tokens = (history.characters + preamble) / CHARACTERS_PER_TOKEN;
  const share = tokens / profile.contextWindowSize;
  if (share <= WARN_AT) return false;
  const message = `Context usage at ~${Math.round(share * 100)}% of the context window`;
  const data = { tokens: Math.round(tokens), window: profile.contextWindowSize };
  emit('WARNING', { code: 'context_usage', message, data });
  return true;
}

function recordTurn({ history, model }: LoopContext, response: ModelResponse): ToolCallPart[] {
  const { parts, usage, responseId, modelId } = response;
  // Providers refuse a turn without content, and reasoning without what it led to.
  if (isEmpty(response)) return [];
  const turn = history.appendAssistant({
    parts,
    provider: model.provider,
    model: modelId ?? model.modelId,
    ...(usage === undefined ? {} : { usage }),
    ...(responseId === undefined ? {} : { responseId }),
  });
  return toolCallsOf(turn);
}

type Step = 'run_tools' | 'answer_cut_off' | 'continue_pause' | 'refused' | 'end';

function nextStep({ finish }: ModelResponse, calls: readonly ToolCallPart[]): Step {
  // Both wires report it as a normal stop; only the raw reason tells.
  if (finish.raw === 'pause_turn') return 'continue_pause';
  if (finish.unified === 'content-filter' || finish.raw === 'refusal') return 'refused';
  if (calls.length === 0) return 'end';
  // The last of these calls is half a call, and the earlier ones may rest on it.
  return finish.unified === 'length' ? 'answer_cut_off' : 'run_tools';
}

function refused({ history, emit }: LoopContext, { finish }: ModelResponse, text: string): LoopOutcome {
  history.answerOpenCalls('Not run: the response was stopped by a content filter.');
  const error = {
    code: 'content_filter',
    message: `The model or its provider refused (${finish.raw ?? finish.unified}).`,
  };
  emit('ERROR', error);
  return { reason: 'refused', text, error };
}

function warnWhenCutShort({ emit }: LoopContext, response: ModelResponse): void {
  if (response.finish.unified === 'length') {
    emit('WARNING', {
      code: 'truncated_response',
      message: 'The answer was cut off at the output token limit.',
    });
  } else if (isEmpty(response)) {
    emit('WARNING', { code: 'empty_response', message: 'The model ended without an answer.' });
  }
}

function runTools(context: LoopContext, calls: readonly ToolCallPart[], signal: AbortSignal) {
  const { profile, environment, config, sessionId, approve, emit } = context;
  const parallel = profile.supportsParallelToolCalls;
  return runToolCalls(calls, {
    tools: profile.toolRegistry,
    environment,
    config,
    sessionId,
    parallel,
    approve,
    emit,
    signal,
  });
}

function answerCutOff({ history, emit }: LoopContext, calls: readonly ToolCallPart[]): void {
  const text =
    'Not run: your response was cut off at the output token limit, so this call may be incomplete. ' +
    'Send it again in smaller pieces.';
  history.appendToolResults(calls.map((call) => answerWithoutRunning(call, text, emit)));
}

function stuck(why: string): LlmError {
  return new LlmError('invalid_request', `The model ${why}; raise maxOutputTokens or split the task.`);
}

function warnAboutLoop(
  { config, loopDetector, profile, history, emit }: LoopContext,
  calls: readonly ToolCallPart[],
): void {
  if (!config.enableLoopDetection) return;
  const period = loopDetector.observe(calls, profile.toolRegistry);
  if (period === undefined) return;
  const message =
    `Loop detected: the last ${config.loopDetectionWindow} tool calls follow a repeating pattern. ` +
    'Try a different approach.';
  history.appendSteering(message);
  emit('LOOP_DETECTION', { message, period });
}

function failed(
  { history, emit }: LoopContext,
  error: unknown,
  signal: AbortSignal,
  text: string,
): LoopOutcome {
  history.answerOpenCalls('No result: the session was interrupted.');
  if (signal.aborted) return { reason: 'interrupted', text };
  if (!(error instanceof LlmError)) throw error;
  const data = errorData(error);
  if (error.code === 'context_length') emit('WARNING', { code: 'context_overflow', message: error.message });
  emit('ERROR', data);
  return { reason: error.code === 'context_length' ? 'context_overflow' : 'error', text, error: data };
}
