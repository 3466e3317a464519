import { messageOf } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import type { ApprovalDecision, ApprovalHook, FinalDecision } from '../control/approval.ts';
import { checkAfter, checkBefore } from '../control/check-hook-answer.ts';
import { monotonicMs } from '../control/clock.ts';
import { askHook, type HookedCall, type Hooks } from '../control/hooks.ts';
import { raceAbort, whoAborted } from '../control/race-abort.ts';
import type { SessionConfig } from '../control/session-config.ts';
import { problemOfParts } from '../conversation/check-input.ts';
import type { Part, ToolCallPart, ToolResult } from '../conversation/turn.ts';
import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { Emit, ToolCallEnd } from '../events/session-event.ts';
import type { SessionTools } from './session-tools.ts';
import type { RegisteredTool, ToolContext, ToolOutput } from './tool.ts';
import { type Dropped, exceedsLimit, type OutputLimit, outputLimit, truncateOutput } from './truncate.ts';
import { argumentsForDisplay, validateArguments } from './validate-arguments.ts';

export type ToolRun = {
  tools: Pick<SessionTools, 'get' | 'names'>;
  environment: ExecutionEnvironment;
  config: SessionConfig;
  sessionId: string;
  /** False: calls run one after the other, whatever the tools allow. */
  parallel: boolean;
  approve: ApprovalHook | undefined;
  hooks: Hooks;
  /** Decisions about parked calls, by call id. The approval hook is not called for them again. */
  decisions: ReadonlyMap<string, FinalDecision>;
  /** Parked calls whose `TOOL_CALL_START` was emitted before. Only their `TOOL_CALL_END` is emitted. */
  announced: ReadonlySet<string>;
  /** Why no further call may start, if so. Asked before each group of calls; calls with a decision start anyway. */
  skip: () => string | undefined;
  emit: Emit;
  signal: AbortSignal;
};

/** `parked`: ids of the calls that wait for a decision. These calls, and the groups after them, have no result yet. */
export type ToolRound = { results: ToolResult[]; parked: string[] };

/**
 * Runs the tool calls of one response in order, until one is parked.
 *
 * Contract: must not reject. Every call has exactly one result, except for those in `parked` and in the groups after
 * them.
 */
export async function runToolCalls(calls: readonly ToolCallPart[], run: ToolRun): Promise<ToolRound> {
  const results: ToolResult[] = [];
  for (const group of concurrencyGroups(calls, run)) {
    const reason = run.signal.aborted ? undefined : run.skip();
    const answers = await Promise.all(
      group.map((call) =>
        // A call that the host has just decided about counts as started.
        reason === undefined || run.decisions.has(call.callId)
          ? runToolCall(call, run)
          : answerWithoutRunning(call, reason, { ...run, status: 'skipped' }),
      ),
    );
    const answered = answers.filter((answer) => answer !== PARKED);
    results.push(...answered);
    if (answered.length === group.length) continue;
    const parked = group.filter((_, index) => answers[index] === PARKED);
    return { results, parked: parked.map(({ callId }) => callId) };
  }
  return { results, parked: [] };
}

const PARKED = Symbol('parked');

/** Neighbouring `shared` calls run together; an `exclusive` one is a group of its own. */
function concurrencyGroups(
  calls: readonly ToolCallPart[],
  { tools, parallel }: ToolRun,
): (readonly ToolCallPart[])[] {
  if (calls.length === 1) return [calls];
  const groups: ToolCallPart[][] = [];
  let open: ToolCallPart[] | undefined;
  for (const call of calls) {
    const tool = tools.get(call.name);
    const shared = parallel && tool?.concurrency === 'shared';
    if (shared && open && !tool.waitsForEarlier?.(call.input)) open.push(call);
    else groups.push([call]);
    open = shared ? groups.at(-1) : undefined;
  }
  return groups;
}

type Finished = Pick<ToolCallEnd, 'status' | 'isError' | 'details'> & { content: string | Part[] };

/** LOOKUP → VALIDATE → hook → approval → EXECUTE → hook → TRUNCATE → EMIT → RETURN (loop spec 3.8). */
async function runToolCall(call: ToolCallPart, run: ToolRun): Promise<ToolResult | typeof PARKED> {
  const { callId, name } = call;
  const started = monotonicMs();
  const input = announce(call, run);
  const tool = run.tools.get(name);
  const finished = await finish(call, tool, input, run);
  if (finished === PARKED) return PARKED;
  const { status, isError } = finished;
  const limit = outputLimit(name, tool?.output, run.config);
  const full = textOf(finished.content);
  const { content, details } = exceedsLimit(full, limit)
    ? await shortened(finished, full, limit, run.environment)
    : finished;
  const dropped = droppedOf(details);
  const output = truncateOutput(full, FULL_OUTPUT, { dropped });
  const outputComplete = output === full && dropped === undefined;
  const durationMs = Math.round(monotonicMs() - started);
  const end: ToolCallEnd = { callId, name, status, output, outputComplete, isError, durationMs };
  if (details !== undefined) end.details = details;
  run.emit('TOOL_CALL_END', end);
  return { callId, name, content, isError };
}

/** Reports the start of a call, unless that was reported before. Returns the arguments as the report shows them. */
function announce(
  { callId, name, input: text, freeform = false }: ToolCallPart,
  { emit, announced }: Pick<NotRun, 'emit' | 'announced'>,
): JsonValue {
  const input = argumentsForDisplay(text, freeform);
  if (!announced?.has(callId)) emit('TOOL_CALL_START', { callId, name, input });
  return input;
}

/** What a tool left out of its content, which the marker of a cut counts too. */
function droppedOf(details: JsonObject | undefined): Dropped | undefined {
  const dropped = details?.dropped;
  if (!isJsonObject(dropped) || typeof dropped.characters !== 'number') return undefined;
  const { characters, lines } = dropped;
  return { characters, ...(typeof lines === 'number' && { lines }) };
}

/** An output that is over the limit: cut, and with the name of the file that has the whole of it. */
async function shortened(
  { content, details }: Finished,
  full: string,
  limit: OutputLimit,
  environment: ExecutionEnvironment,
): Promise<Pick<Finished, 'content' | 'details'>> {
  const ownFile = details?.outputFile;
  const outputFile = typeof ownFile === 'string' ? ownFile : await keepFullOutput(full, limit, environment);
  const dropped = droppedOf(details);
  const cut = eachText(content, (text) => truncateOutput(text, limit, { outputFile, dropped }));
  return {
    content: cut,
    ...present({ details: outputFile === undefined ? details : { ...details, outputFile } }),
  };
}

const MAX_KEPT_CHARACTERS = 64 * 1024 * 1024;

/** A file with the whole of an output that the model gets in part. */
async function keepFullOutput(
  text: string,
  limit: OutputLimit,
  environment: ExecutionEnvironment,
): Promise<string | undefined> {
  if (limit.spill === false || !environment.outputDirectory) return undefined;
  try {
    const folder = await environment.outputDirectory();
    const file = pathsOf(environment).join(folder, `${crypto.randomUUID()}.txt`);
    await environment.writeBytes(file, new TextEncoder().encode(text.slice(0, MAX_KEPT_CHARACTERS)));
    return file;
  } catch {
    // A full disk must not cost the result.
    return undefined;
  }
}

const FULL_OUTPUT = { maxChars: 1024 * 1024, mode: 'head_tail' } as const;

type NotRun = {
  emit: Emit;
  /** Calls whose start was reported before. */
  announced?: ReadonlySet<string> | undefined;
  status?: 'rejected' | 'skipped' | 'aborted';
};

/** Answers a call that must not run, with both its events. */
export function answerWithoutRunning(
  call: ToolCallPart,
  text: string,
  { emit, announced, status = 'rejected' }: NotRun,
): ToolResult {
  const { callId, name } = call;
  announce(call, { emit, announced });
  const end = { status, output: text, outputComplete: true, isError: true, durationMs: 0 };
  emit('TOOL_CALL_END', { callId, name, ...end });
  return { callId, name, content: text, isError: true };
}

async function finish(
  call: ToolCallPart,
  tool: RegisteredTool | undefined,
  input: JsonValue,
  run: ToolRun,
): Promise<Finished | typeof PARKED> {
  const { name } = call;
  if (run.signal.aborted)
    return failure('aborted', `Not run: ${whoAborted(run.signal)} interrupted before this call started.`);
  if (!tool)
    return failure('failed', `Unknown tool: ${name}. The tools are: ${run.tools.names().join(', ')}.`);
  try {
    const validated = await validateArguments(tool.definition, argumentText(call, tool));
    if (!validated.ok) return failure('failed', `Invalid arguments for tool: ${name}. ${validated.reason}`);
    const prepared = run.hooks.beforeTool ? await askBefore(call, tool, validated.args, run) : validated;
    if ('status' in prepared) return prepared;
    const decision =
      run.decisions.has(call.callId) || run.approve
        ? await askForApproval(call, input, prepared.args, run)
        : APPROVED;
    if (decision.decision === 'parked') return PARKED;
    if (decision.decision === 'denied') {
      const why = decision.reason ? ` (${decision.reason})` : '';
      return failure('rejected', `Not run: the call was denied${why}.`);
    }
    const finished = await execute(tool, prepared.args, call, run);
    return run.hooks.afterTool ? await askAfter(call, prepared.args, finished, run) : finished;
  } catch (error) {
    return failure('failed', `Tool error (${name}): ${messageOf(error)}`);
  }
}

/** Asks the hook before a call. Returns the arguments that may run, or why the call does not get so far. */
async function askBefore(
  call: ToolCallPart,
  tool: RegisteredTool,
  args: JsonObject,
  run: ToolRun,
): Promise<{ args: JsonObject } | Finished> {
  const { beforeTool } = run.hooks;
  if (!beforeTool) return { args };
  const ask = async () => checkBefore(await beforeTool(hooked(call, structuredClone(args), run)));
  const answer = await askHook('beforeTool', ask, run);
  if (answer.kind === 'failed') return failure('rejected', `Not run: ${answer.message}.`);
  if (answer.kind === 'none') return { args };
  if ('decision' in answer.value) return failure('rejected', `Not run: ${answer.value.reason}`);
  const replaced = await validateArguments(tool.definition, JSON.stringify(answer.value.args));
  if (!replaced.ok)
    return failure('failed', `Not run: the host changed the arguments, and ${replaced.reason}`);
  return { args: replaced.args };
}

async function askAfter(
  call: ToolCallPart,
  args: JsonObject,
  finished: Finished,
  run: ToolRun,
): Promise<Finished> {
  const { afterTool } = run.hooks;
  if (!afterTool) return finished;
  const ran = { ...hooked(call, args, run), ...finished };
  const ask = async () => checkAfter(await afterTool(ran));
  const answer = await askHook('afterTool', ask, run);
  if (answer.kind === 'none') return finished;
  // The hook may be there to take something out.
  if (answer.kind === 'failed')
    return failure('failed', `The call ran; its result is withheld: ${answer.message}.`);
  const { content = finished.content, isError = finished.isError } = answer.value;
  return { ...finished, content: eachText(content, clean), isError };
}

function hooked(call: ToolCallPart, args: JsonObject, { sessionId, signal }: ToolRun): HookedCall {
  return { callId: call.callId, name: call.name, args, sessionId, signal };
}

function failure(status: Finished['status'], content: string): Finished {
  return { status, content: clean(content), isError: true };
}

function argumentText(call: ToolCallPart, { definition }: RegisteredTool): string {
  if (!call.freeform || definition.type !== 'freeform') return call.input;
  return JSON.stringify({ [definition.argument.name]: call.input });
}

const APPROVED: ApprovalDecision = { decision: 'approved' };

async function askForApproval(
  call: ToolCallPart,
  input: JsonValue,
  args: JsonObject,
  run: ToolRun,
): Promise<ApprovalDecision> {
  const { approve, emit, signal, sessionId } = run;
  const { callId, name } = call;
  const decided = run.decisions.get(callId);
  if (decided) {
    emit('APPROVAL_DECIDED', { callId, ...decided });
    return decided;
  }
  if (!approve) return APPROVED;
  emit('APPROVAL_REQUESTED', { callId, name, input });
  const asked = Promise.resolve({
    callId,
    name,
    args: structuredClone(args),
    input: call.input,
    sessionId,
    signal,
  })
    .then(approve)
    .catch((error): ApprovalDecision => {
      const reason = `the approval failed: ${messageOf(error)}`;
      if (!signal.aborted) emit('ERROR', { code: 'hook-failed', message: reason });
      return { decision: 'denied', reason };
    });
  const answer = await raceAbort(asked, signal, 0);
  const decision = answer ?? { decision: 'denied', reason: `${whoAborted(signal)} interrupted` };
  if (decision.decision !== 'parked') emit('APPROVAL_DECIDED', { callId, ...decision });
  return decision;
}

/** TERM, two seconds, KILL: what a well-behaved tool needs at most after an abort, and a little more. */
const ABORT_GRACE_MS = 4_000;

async function execute(
  tool: RegisteredTool,
  args: JsonObject,
  call: ToolCallPart,
  run: ToolRun,
): Promise<Finished> {
  const { callId } = call;
  const { environment, signal, sessionId, config, emit } = run;
  const started = monotonicMs();
  const context: ToolContext = {
    environment,
    signal,
    callId,
    sessionId,
    onUpdate: (delta) => emit('TOOL_CALL_OUTPUT_DELTA', { callId, delta }),
    limits: config,
  };
  const settled = await raceAbort(callExecutor(tool, args, context), signal, ABORT_GRACE_MS);
  if (!signal.aborted && settled) return settled;
  // What ran to its end in spite of the abort did happen, and the model has to know.
  if (settled?.status === 'completed' && !settled.isError) return settled;
  const seconds = ((monotonicMs() - started) / 1000).toFixed(1);
  const partial = settled ? `\n${textOf(settled.content)}` : '';
  return failure('aborted', `Aborted by ${whoAborted(signal)} after ${seconds} s.${partial}`);
}

async function callExecutor(tool: RegisteredTool, args: JsonObject, context: ToolContext): Promise<Finished> {
  const { name } = tool.definition;
  try {
    return completed(await tool.executor(args, context), name);
  } catch (error) {
    return failure('failed', `Tool error (${name}): ${messageOf(error)}`);
  }
}

function completed(output: ToolOutput, name: string): Finished {
  if (typeof output === 'string') return { status: 'completed', content: clean(output), isError: false };
  const problem = problemOfOutput(output);
  if (problem !== undefined)
    return failure(
      'failed',
      `Tool error (${name}): the tool ran, but what it returned cannot be read. ${problem}.`,
    );
  const { content, isError = false, details } = output;
  const status = isError ? 'failed' : 'completed';
  return { status, content: eachText(content, clean), isError, ...present({ details }) };
}

/** A tool in JavaScript may return anything; a wrong part would be refused with every later request. */
function problemOfOutput(output: unknown): string | undefined {
  const wanted = 'An executor returns a text, or { content } with a text or a list of parts';
  if (!isJsonObject(output))
    return `${wanted}; this one returned ${output === null ? 'null' : `a value of type ${typeof output}`}`;
  const { content } = output;
  if (typeof content === 'string') return undefined;
  if (content === undefined)
    return `${wanted}; this one returned an object with ${Object.keys(output).join(', ') || 'nothing in it'}`;
  return problemOfParts(content, 'content');
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
