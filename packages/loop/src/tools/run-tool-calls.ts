import type { JsonObject, JsonValue } from '@whetstone/events';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { SessionConfig } from '../session-config.ts';
import type { Emit, ToolCallEnd } from '../session-event.ts';
import type { Part, ToolCallPart, ToolResult } from '../turn.ts';
import type { RegisteredTool, ToolOutput } from './tool.ts';
import type { ToolRegistry } from './tool-registry.ts';
import { outputLimit, truncateOutput } from './truncate.ts';
import { argumentsForDisplay, validateArguments } from './validate-arguments.ts';

/** Asked between VALIDATE and EXECUTE. A rejection or a throw counts as a denial. */
export type ApprovalHook = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
export type ApprovalRequest = { callId: string; name: string; args: JsonObject; signal: AbortSignal };
export type ApprovalDecision = { decision: 'approved' } | { decision: 'denied'; reason?: string };

export type ToolRun = {
  tools: ToolRegistry;
  environment: ExecutionEnvironment;
  config: SessionConfig;
  sessionId: string;
  /** False: one call after the other, whatever the tools allow. */
  parallel: boolean;
  approve: ApprovalHook | undefined;
  emit: Emit;
  signal: AbortSignal;
};

/** Runs the calls of one response and answers each of them, in their order, whatever happens. Never rejects. */
export async function runToolCalls(calls: readonly ToolCallPart[], run: ToolRun): Promise<ToolResult[]> {
  const results: ToolResult[] = [];
  for (const group of concurrencyGroups(calls, run)) {
    results.push(...(await Promise.all(group.map((call) => runToolCall(call, run)))));
  }
  return results;
}

/** Neighbouring `shared` calls run together; an `exclusive` one is a group of its own. */
function concurrencyGroups(calls: readonly ToolCallPart[], { tools, parallel }: ToolRun): ToolCallPart[][] {
  const groups: ToolCallPart[][] = [];
  let open: ToolCallPart[] | undefined;
  for (const call of calls) {
    const shared = parallel && tools.get(call.name)?.concurrency === 'shared';
    if (shared && open) open.push(call);
    else {
      const group = [call];
      groups.push(group);
      open = shared ? group : undefined;
    }
  }
  return groups;
}

type Finished = Pick<ToolCallEnd, 'status' | 'isError' | 'details'> & { content: string | Part[] };

/** LOOKUP → VALIDATE → approval → EXECUTE → TRUNCATE → EMIT → RETURN (loop spec 3.8). */
async function runToolCall(call: ToolCallPart, run: ToolRun): Promise<ToolResult> {
  const { callId, name } = call;
  const started = performance.now();
  const input = argumentsForDisplay(call.input, call.freeform === true);
  run.emit('TOOL_CALL_START', { callId, name, input });
  const tool = run.tools.get(name);
  const finished = await finish(call, tool, input, run);
  const limit = outputLimit(name, tool?.output, run.config);
  const content = eachText(finished.content, (text) => truncateOutput(text, limit));
  const full = textOf(finished.content);
  const output = truncateOutput(full, FULL_OUTPUT);
  run.emit('TOOL_CALL_END', {
    callId,
    name,
    status: finished.status,
    output,
    outputComplete: output === full,
    isError: finished.isError,
    durationMs: Math.round(performance.now() - started),
    ...(finished.details === undefined ? {} : { details: finished.details }),
  });
  return { callId, name, content, isError: finished.isError };
}

/** What an event carries at most. */
const FULL_OUTPUT = { maxChars: 1024 * 1024, mode: 'head_tail' } as const;

/** Answers a call that is not to run. The bracket of events holds all the same. */
export function answerWithoutRunning(call: ToolCallPart, text: string, emit: Emit): ToolResult {
  const { callId, name } = call;
  emit('TOOL_CALL_START', { callId, name, input: argumentsForDisplay(call.input, call.freeform === true) });
  const end = {
    status: 'rejected',
    output: text,
    outputComplete: true,
    isError: true,
    durationMs: 0,
  } as const;
  emit('TOOL_CALL_END', { callId, name, ...end });
  return { callId, name, content: text, isError: true };
}

async function finish(
  call: ToolCallPart,
  tool: RegisteredTool | undefined,
  input: JsonValue,
  run: ToolRun,
): Promise<Finished> {
  const { name, callId } = call;
  if (run.signal.aborted)
    return failure('aborted', 'Not run: the user interrupted before this call started.');
  if (!tool)
    return failure('failed', `Unknown tool: ${name}. The tools are: ${run.tools.names().join(', ')}.`);
  try {
    const validated = validateArguments(tool.definition, argumentText(call, tool));
    if (!validated.ok) return failure('failed', `Invalid arguments for tool: ${name}. ${validated.reason}`);
    const denial = await askForApproval(callId, name, input, validated.args, run);
    if (denial !== undefined) return failure('rejected', denial);
    return await execute(tool, validated.args, call, run);
  } catch (error) {
    return failure(
      'failed',
      `Tool error (${name}): ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function failure(status: Finished['status'], content: string): Finished {
  return { status, content: content.toWellFormed(), isError: true };
}

function argumentText(call: ToolCallPart, { definition }: RegisteredTool): string {
  if (!call.freeform || definition.type !== 'freeform') return call.input;
  return JSON.stringify({ [definition.argument.name]: call.input });
}

async function askForApproval(
  callId: string,
  name: string,
  input: JsonValue,
  args: JsonObject,
  { approve, emit, signal }: ToolRun,
): Promise<string | undefined> {
  if (!approve) return undefined;
  emit('APPROVAL_REQUESTED', { callId, name, input });
  const answer = await raceAbort(
    Promise.resolve()
      .then(() => approve({ callId, name, args, signal }))
      .catch(
        (error): ApprovalDecision => ({
          decision: 'denied',
          reason: `the approval failed: ${String(error)}`,
        }),
      ),
    signal,
    0,
  );
  const decision: ApprovalDecision = answer ?? { decision: 'denied', reason: 'the user interrupted' };
  emit('APPROVAL_DECIDED', { callId, ...decision });
  if (decision.decision === 'approved') return undefined;
  return `Not run: the call was denied${decision.reason ? ` (${decision.reason})` : ''}.`;
}

/** TERM, two seconds, KILL: what a well-behaved tool needs at most after an abort, and a little more. */
const ABORT_GRACE_MS = 4_000;

async function execute(
  tool: RegisteredTool,
  args: JsonObject,
  call: ToolCallPart,
  run: ToolRun,
): Promise<Finished> {
  const { callId, name } = call;
  const started = performance.now();
  const { defaultCommandTimeoutMs, maxCommandTimeoutMs } = run.config;
  const work = Promise.resolve().then(() =>
    tool.executor(args, {
      environment: run.environment,
      signal: run.signal,
      callId,
      sessionId: run.sessionId,
      onUpdate: (delta) => run.emit('TOOL_CALL_OUTPUT_DELTA', { callId, delta }),
      limits: { defaultCommandTimeoutMs, maxCommandTimeoutMs },
    }),
  );
  const settled = await raceAbort(
    work.then(
      (output): Finished => completed(output),
      (error): Finished =>
        failure('failed', `Tool error (${name}): ${error instanceof Error ? error.message : String(error)}`),
    ),
    run.signal,
    ABORT_GRACE_MS,
  );
  if (!run.signal.aborted && settled) return settled;
  // What ran to its end in spite of the abort did happen, and the model has to know.
  if (settled?.status === 'completed' && !settled.isError) return settled;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const partial = settled ? `\n${textOf(settled.content)}` : '';
  return failure('aborted', `Aborted by the user after ${seconds} s.${partial}`);
}

function completed(output: ToolOutput): Finished {
  const {
    content,
    isError = false,
    details,
  }: Exclude<ToolOutput, string> = typeof output === 'string' ? { content: output } : output;
  return {
    status: isError ? 'failed' : 'completed',
    content: eachText(content, clean),
    isError,
    ...(details === undefined ? {} : { details }),
  };
}

/** No request may carry a lone surrogate, and some providers refuse NUL. */
function clean(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function eachText(content: string | Part[], change: (text: string) => string): string | Part[] {
  if (typeof content === 'string') return change(content);
  return content.map((part) => (part.type === 'text' ? { ...part, text: change(part.text) } : part));
}

function textOf(content: string | Part[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n');
}

/** `work`, or `undefined` where it is not done `graceMs` after an abort. */
async function raceAbort<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | undefined> {
  const { promise: gaveUp, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    timer = setTimeout(() => resolve(undefined), graceMs);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, gaveUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
