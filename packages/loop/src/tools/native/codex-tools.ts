import { present } from '@whetstone/events/present';
import { patchGrammar } from '../../apply-patch/grammar.ts';
import type { BackgroundProcess, ProcessState } from '../../environment/execution-environment.ts';
import { applyPatchForModel } from '../apply-patch-tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { loadFile } from '../load-file.ts';
import {
  type Arguments,
  FILE_PATH,
  flag,
  listOf,
  number,
  objectOf,
  oneOf,
  optional,
  text,
} from '../parameters.ts';
import { createPlanTool } from '../plan-tool.ts';
import { findProcess, forgetProcess, keepProcess, makeRoom } from '../process-sessions.ts';
import { COMMAND, commandDetails, runCommand } from '../shell-tool.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from '../tool.ts';

/** About four bytes a token, as the released agent counts. */
const BYTES_PER_TOKEN = 4;
const DEFAULT_MAX_TOKENS = 10_000;

/** The tools of the released Codex CLI: its names, output formats and order, with parameters in alphabetical order. */
export function createCodexTools(): RegisteredTool[] {
  return [execCommandTool, writeStdinTool, updatePlanTool, applyPatchTool, viewImageTool];
}

const DEFAULT_YIELD_MS = 10_000;
const REPORT_CHARS = 1_000;
const OUTPUT_LIMIT = { maxChars: DEFAULT_MAX_TOKENS * 4 + REPORT_CHARS, mode: 'head_tail' } as const;

/** The released agent allows no further arguments. */
const keywords = { additionalProperties: false };

const YIELD_TIME = 'How long to wait for output, in milliseconds, before the call answers';
const maxOutputTokens = optional(
  number(
    `Tokens of output to return at most (default and maximum ${DEFAULT_MAX_TOKENS}); the middle is cut out`,
  ),
);

const execParameters = {
  cmd: COMMAND,
  login: optional(flag('Read the profile files of a login shell (default true)')),
  max_output_tokens: maxOutputTokens,
  shell: optional(text('The shell that runs it (default: bash, or sh without one)')),
  tty: optional(flag('Give the command a terminal (default false)')),
  workdir: optional(text('Directory to start in (default: the working directory)')),
  yield_time_ms: optional(number(`${YIELD_TIME} (default ${DEFAULT_YIELD_MS})`)),
};

type ExecCommandArguments = Arguments<typeof execParameters>;

const execCommandTool = builtInTool({
  name: 'exec_command',
  description:
    'Runs a command in the shell. If it has not ended after yield_time_ms it runs on, and the answer names a session ' +
    'ID with which write_stdin reads more of its output or sends it input.',
  parameters: execParameters,
  keywords,
  output: OUTPUT_LIMIT,
  guidance: 'for reading, searching, builds, tests and git. Poll a long one with write_stdin.',
  executor: execCommand,
});

async function execCommand(args: ExecCommandArguments, context: ToolContext): Promise<ToolOutput> {
  const patch = patchInHeredoc(args.cmd);
  if (patch !== undefined) return await applyPatchReport(patch, context);
  if (!context.environment.start) return await runToEnd(args, context);
  makeRoom(context);
  const { workdir, tty = false } = args;
  const process = await context.environment.start(commandLine(args, context), {
    ...present({ workingDirectory: workdir }),
    ...(tty ? { terminal: true } : {}),
  });
  const id = keepProcess(context, process);
  const waitMs = clamp(args.yield_time_ms ?? DEFAULT_YIELD_MS, 250, 30_000);
  const output = await pollProcess(process, id, waitMs, args.max_output_tokens, context);
  // Interrupted, the model never learns of the session and could not end it.
  if (context.signal.aborted) await process.kill();
  return output;
}

/** What the environment's shell runs. It starts any other shell: the host may have chosen it to enter a container. */
function commandLine(
  { cmd, shell, login = true }: ExecCommandArguments,
  { environment }: ToolContext,
): string {
  // There is no login shell to start on Windows.
  if (environment.platform() === 'win32' || (!login && shell === undefined)) return cmd;
  const program = shell === undefined ? '"$(command -v bash || command -v sh)"' : quote(shell);
  return `exec ${program} ${login ? '-lc' : '-c'} ${quote(cmd)}`;
}

/** One word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** An environment without background processes: the command gets the time of a usual shell call, then it is ended. */
async function runToEnd(args: ExecCommandArguments, context: ToolContext): Promise<ToolOutput> {
  const { result, timeoutMs } = await runCommand(context, commandLine(args, context), {
    ...present({ workingDirectory: args.workdir }),
  });
  const { exitCode, signal } = result;
  const ended = result.timedOut ? `\n[ended after ${timeoutMs} ms]` : '';
  return {
    content: reportCommand({
      output: result.stdout + result.stderr + ended,
      droppedBytes: result.droppedBytes,
      state: { kind: 'exited', ...present({ exitCode, signal }) },
      seconds: result.durationMs / 1000,
      maxTokens: maxTokens(args.max_output_tokens),
    }),
    isError: result.timedOut,
    details: commandDetails(result),
  };
}

const stdinParameters = {
  chars: optional(text('Text for its standard input (default: none)')),
  max_output_tokens: maxOutputTokens,
  session_id: number('The session ID that exec_command gave'),
  yield_time_ms: optional(number(YIELD_TIME)),
};

const writeStdinTool = builtInTool({
  name: 'write_stdin',
  description:
    'Sends text to a command that still runs, or, without text, waits for more of its output. Answers as exec_command does.',
  parameters: stdinParameters,
  keywords,
  output: OUTPUT_LIMIT,
  exemptFromLoopDetection: true,
  executor: writeStdin,
});

async function writeStdin(
  { chars = '', max_output_tokens, session_id, yield_time_ms: wait }: Arguments<typeof stdinParameters>,
  context: ToolContext,
): Promise<ToolOutput> {
  const id = String(session_id);
  const process = findProcess(context, id);
  if (!process) return { content: `write_stdin failed: Unknown process id ${id}`, isError: true };
  // Where it has exited, the report below says so.
  if (chars !== '') await process.write(chars).catch(() => {});
  const waitMs = chars === '' ? clamp(wait ?? 5_000, 5_000, 300_000) : clamp(wait ?? 250, 250, 30_000);
  return await pollProcess(process, id, waitMs, max_output_tokens, context);
}

async function pollProcess(
  process: BackgroundProcess,
  id: string,
  waitMs: number,
  tokens: number | undefined,
  context: ToolContext,
): Promise<ToolOutput> {
  const started = performance.now();
  const { output, droppedBytes, state } = await process.poll({ waitMs, signal: context.signal });
  if (output !== '') context.onUpdate(output);
  if (state.kind === 'exited') forgetProcess(context, id);
  const seconds = (performance.now() - started) / 1000;
  const { kind, ...exit } = state;
  return {
    content: reportCommand({
      output,
      droppedBytes,
      state,
      sessionId: id,
      seconds,
      maxTokens: maxTokens(tokens),
    }),
    details: kind === 'running' ? { processId: id } : exit,
  };
}

function maxTokens(asked = DEFAULT_MAX_TOKENS): number {
  return clamp(Math.floor(asked), 1, DEFAULT_MAX_TOKENS);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Models write the patch into the shell as well; it is applied as if it had come to its own tool. */
function patchInHeredoc(command: string): string | undefined {
  return /^\s*apply_patch\s*<<\s*(['"]?)(\w+)\1\n(?<patch>[\s\S]*)\n\2\s*$/.exec(command)?.groups?.patch;
}

const applyPatchTool = defineTool<{ input: string }>({
  definition: {
    type: 'freeform',
    name: 'apply_patch',
    description:
      'Adds, deletes, updates and moves files with one patch, applied as a whole or not at all. The input is the ' +
      'patch text itself, not JSON.',
    grammar: { syntax: 'lark', definition: patchGrammar },
    argument: { name: 'input', description: 'The patch, from "*** Begin Patch" to "*** End Patch"' },
  },
  guidance: 'for every change to files; one patch may change several.',
  executor: ({ input }, context) => applyPatchReport(input, context),
});

async function applyPatchReport(patch: string, { environment }: ToolContext): Promise<ToolOutput> {
  const started = performance.now();
  const applied = await applyPatchForModel(environment, patch);
  if (applied.isError) return applied;
  const seconds = Math.round((performance.now() - started) / 1000);
  return {
    ...applied,
    content: `Exit code: 0\nWall time: ${seconds} seconds\nOutput:\n${applied.content}\n`,
  };
}

const planStep = objectOf(
  {
    status: oneOf(['pending', 'in_progress', 'completed']),
    step: text('What is to be done, in a few words'),
  },
  keywords,
);

const updatePlanTool = createPlanTool({
  name: 'update_plan',
  description:
    'Tells the plan for the task, whole, with the state of each step. At most one step is in progress.',
  parameters: { explanation: optional(text('Why the plan changes')), plan: listOf(planStep) },
  keywords,
  steps: ({ plan }) => plan.map(({ step, status }) => ({ step, status })),
  answer: 'Plan updated',
});

const viewImageTool = builtInTool({
  name: 'view_image',
  description: 'Shows an image file (PNG, JPEG, GIF or WebP).',
  parameters: { path: FILE_PATH },
  keywords,
  concurrency: 'shared',
  executor: async ({ path }, { environment }) => {
    const file = await loadFile(environment, path).catch((error: unknown) => {
      throw new Error(`unable to locate image at ${path}`, { cause: error });
    });
    if (file.kind !== 'image') throw new Error(`${path} is not an image that can be shown`);
    return { content: [file.image] };
  },
});

type CommandReport = {
  output: string;
  /** Bytes of the output that nobody has kept. */
  droppedBytes: number;
  state: ProcessState;
  /** How the model names a command that still runs. */
  sessionId?: string;
  seconds: number;
  maxTokens: number;
};

/** What `exec_command` and `write_stdin` answer. */
function reportCommand({
  output,
  droppedBytes,
  state,
  sessionId,
  seconds,
  maxTokens,
}: CommandReport): string {
  const bytes = Buffer.from(output);
  return [
    `Chunk ID: ${crypto.randomUUID().slice(0, 6)}`,
    `Wall time: ${seconds.toFixed(4)} seconds`,
    describeState(state, sessionId),
    `Original token count: ${tokensOf(bytes.length + droppedBytes)}`,
    'Output:',
    bytes.length <= maxTokens * BYTES_PER_TOKEN ? output : cutToTokens(bytes, droppedBytes, maxTokens),
  ].join('\n');
}

function describeState(state: ProcessState, sessionId: string | undefined): string {
  if (state.kind === 'running') return `Process running with session ID ${sessionId}`;
  if (state.exitCode !== undefined) return `Process exited with code ${state.exitCode}`;
  return `Process was ended by ${state.signal ?? 'a signal'}`;
}

const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** Cuts the middle out of a long output; characters stay whole. */
function cutToTokens(bytes: Buffer, droppedBytes: number, maxTokens: number): string {
  const room = maxTokens * BYTES_PER_TOKEN;
  const head = decodeWhole(bytes.subarray(0, Math.ceil(room / 2)));
  const tail = decodeWhole(bytes.subarray(bytes.length - Math.floor(room / 2)));
  const text = bytes.toString('utf8');
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const total = tokensOf(bytes.length + droppedBytes);
  return (
    `Warning: truncated output (original token count: ${total})\n` +
    `Total output lines: ${droppedBytes > 0 ? 'at least ' : ''}${lines}\n\n` +
    `${head}…${total - maxTokens} tokens truncated…${tail}`
  );
}

/** The text of bytes that were cut out of a text, without the halves of characters at the two ends. */
function decodeWhole(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll(/^\ufffd+|\ufffd+$/g, '');
}
