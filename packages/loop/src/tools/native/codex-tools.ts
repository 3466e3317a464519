import { present } from '@whetstone/events/present';
import { patchGrammar } from '../../apply-patch/grammar.ts';
import { applyPatchForModel } from '../apply-patch-tool.ts';
import { loadFile } from '../load-file.ts';
import { createPlanTool, type PlanStep } from '../plan-tool.ts';
import { findProcess, forgetProcess, keepProcess, makeRoom } from '../process-sessions.ts';
import { commandDetails, runCommand } from '../shell-tool.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from '../tool.ts';
import { DEFAULT_MAX_TOKENS, reportCommand } from './command-report.ts';

/**
 * The tools of the released Codex CLI, by its names, parameters and output formats, in its order. Its requests have the
 * parameters of each tool in the order of the alphabet.
 */
export function createCodexTools(): RegisteredTool[] {
  return [execCommandTool(), writeStdinTool(), updatePlanTool(), applyPatchTool(), viewImageTool()];
}

type ExecCommandArguments = {
  cmd: string;
  login?: boolean;
  max_output_tokens?: number;
  shell?: string;
  tty?: boolean;
  workdir?: string;
  yield_time_ms?: number;
};

const DEFAULT_YIELD_MS = 10_000;
/** What a report holds besides the output. */
const REPORT_CHARS = 1_000;
const OUTPUT_LIMIT = { maxChars: DEFAULT_MAX_TOKENS * 4 + REPORT_CHARS, mode: 'head_tail' } as const;

const yieldTime = {
  type: 'number',
  description: 'How long to wait for output, in milliseconds, before the call answers',
};
const maxOutputTokens = {
  type: 'number',
  description: `Tokens of output to return at most (default and maximum ${DEFAULT_MAX_TOKENS}); the middle is cut out`,
};

function execCommandTool(): RegisteredTool {
  return defineTool<ExecCommandArguments>({
    definition: {
      name: 'exec_command',
      description:
        'Runs a command in the shell. If it has not ended after yield_time_ms it runs on, and the answer names a session ' +
        'ID with which write_stdin reads more of its output or sends it input.',
      parameters: {
        type: 'object',
        properties: {
          cmd: { type: 'string', description: 'The command line' },
          login: { type: 'boolean', description: 'Read the profile files of a login shell (default true)' },
          max_output_tokens: maxOutputTokens,
          shell: { type: 'string', description: 'The shell that runs it (default: bash, or sh without one)' },
          tty: { type: 'boolean', description: 'Give the command a terminal (default false)' },
          workdir: { type: 'string', description: 'Directory to start in (default: the working directory)' },
          yield_time_ms: {
            ...yieldTime,
            description: `${yieldTime.description} (default ${DEFAULT_YIELD_MS})`,
          },
        },
        required: ['cmd'],
        additionalProperties: false,
      },
    },
    output: OUTPUT_LIMIT,
    guidance: 'for reading, searching, builds, tests and git. Poll a long one with write_stdin.',
    executor: execCommand,
  });
}

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
  const output = await pollProcess(id, waitMs, args.max_output_tokens, context);
  // Interrupted, the model never learns of the session and could not end it.
  if (context.signal.aborted) await process.kill();
  return output;
}

/**
 * What the environment's own shell is to run. Another shell is started from it, not in its place: the host may have
 * chosen it, for example to lead commands into a container.
 */
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
      state: {
        kind: 'exited',
        ...present({ exitCode }),
        ...(signal ? { signal } : {}),
      },
      seconds: result.durationMs / 1000,
      maxTokens: maxTokens(args.max_output_tokens),
    }),
    isError: result.timedOut,
    details: commandDetails(result),
  };
}

type WriteStdinArguments = {
  chars?: string;
  max_output_tokens?: number;
  session_id: number;
  yield_time_ms?: number;
};

function writeStdinTool(): RegisteredTool {
  return defineTool<WriteStdinArguments>({
    definition: {
      name: 'write_stdin',
      description:
        'Sends text to a command that still runs, or, without text, waits for more of its output. Answers as exec_command does.',
      parameters: {
        type: 'object',
        properties: {
          chars: { type: 'string', description: 'Text for its standard input (default: none)' },
          max_output_tokens: maxOutputTokens,
          session_id: { type: 'number', description: 'The session ID that exec_command gave' },
          yield_time_ms: yieldTime,
        },
        required: ['session_id'],
        additionalProperties: false,
      },
    },
    output: OUTPUT_LIMIT,
    exemptFromLoopDetection: true,
    executor: writeStdin,
  });
}

async function writeStdin(args: WriteStdinArguments, context: ToolContext): Promise<ToolOutput> {
  const { chars = '' } = args;
  const id = String(args.session_id);
  const process = findProcess(context, id);
  if (!process)
    return { content: `write_stdin failed: Unknown process id ${args.session_id}`, isError: true };
  if (chars === '') {
    const waitMs = clamp(args.yield_time_ms ?? 5_000, 5_000, 300_000);
    return await pollProcess(id, waitMs, args.max_output_tokens, context);
  }
  // Where it has exited, the report below says so.
  await process.write(chars).catch(() => {});
  return await pollProcess(
    id,
    clamp(args.yield_time_ms ?? 250, 250, 30_000),
    args.max_output_tokens,
    context,
  );
}

async function pollProcess(
  id: string,
  waitMs: number,
  tokens: number | undefined,
  context: ToolContext,
): Promise<ToolOutput> {
  const process = findProcess(context, id);
  if (!process) throw new Error(`Unknown process id ${id}`);
  const started = performance.now();
  const { output, state } = await process.poll({ waitMs, signal: context.signal });
  if (output !== '') context.onUpdate(output);
  if (state.kind === 'exited') forgetProcess(context, id);
  const seconds = (performance.now() - started) / 1000;
  return {
    content: reportCommand({ output, state, sessionId: id, seconds, maxTokens: maxTokens(tokens) }),
    details: state.kind === 'running' ? { processId: id } : { ...withoutKind(state) },
  };
}

function withoutKind(state: { exitCode?: number; signal?: string }): { exitCode?: number; signal?: string } {
  const { exitCode, signal } = state;
  return { ...present({ exitCode, signal }) };
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

function applyPatchTool(): RegisteredTool {
  return defineTool<{ input: string }>({
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
}

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

function updatePlanTool(): RegisteredTool {
  return createPlanTool<{ plan: PlanStep[] }>({
    name: 'update_plan',
    description:
      'Tells the plan for the task, whole, with the state of each step. At most one step is in progress.',
    parameters: {
      type: 'object',
      properties: {
        explanation: { type: 'string', description: 'Why the plan changes' },
        plan: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
              step: { type: 'string', description: 'What is to be done, in a few words' },
            },
            required: ['step', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['plan'],
      additionalProperties: false,
    },
    steps: ({ plan }) => plan.map(({ step, status }) => ({ step, status })),
    answer: 'Plan updated',
  });
}

function viewImageTool(): RegisteredTool {
  return defineTool<{ path: string }>({
    definition: {
      name: 'view_image',
      description: 'Shows an image file (PNG, JPEG, GIF or WebP).',
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Absolute, or relative to the working directory' },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
    concurrency: 'shared',
    executor: async ({ path }, { environment }) => {
      const file = await loadFile(environment, path).catch((error: unknown) => {
        throw new Error(`unable to locate image at ${path}`, { cause: error });
      });
      if (file.kind !== 'image') throw new Error(`${path} is not an image that can be shown`);
      return { content: [file.image] };
    },
  });
}
