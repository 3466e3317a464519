import { setTimeout as delay } from 'node:timers/promises';
import { present } from '@whetstone/events/present';
import type { ExecResult } from '../../environment/execution-environment.ts';
import { builtInTool } from '../built-in-tool.ts';
import { type Arguments, flag, integer, optional, text } from '../parameters.ts';
import { startInBackground } from '../process-sessions.ts';
import { COMMAND, commandDetails, PURPOSE, runCommand } from '../shell-tool.ts';
import type { ToolContext, ToolOutput } from '../tool.ts';
import { processNumber } from './gemini-cli-background.ts';

/** The family has no timeout a call; a command that has gone silent is ended. */
export const INACTIVITY_TIMEOUT_MS = 300_000;
const BACKGROUND_TIMEOUT_MS = 7_200_000;
const MAX_DELAY_MS = 60_000;

const parameters = {
  command: COMMAND,
  description: PURPOSE,
  dir_path: optional(text('Directory to start in (default: the working directory)')),
  is_background: optional(flag('Answer while the command runs on (default false)')),
  delay_ms: optional(integer('With is_background: how long to wait first', { minimum: 0 })),
};

type RunShellCommandArguments = Arguments<typeof parameters>;

export const runShellCommandTool = builtInTool({
  name: 'run_shell_command',
  description:
    'Runs a command with bash -c in its own process group and returns Output, Error, Exit Code (where it is not 0) ' +
    `and Signal. A command that prints nothing for ${INACTIVITY_TIMEOUT_MS / 1000} seconds is ended.`,
  parameters,
  output: { maxChars: 40_000, mode: 'head_tail' },
  guidance: 'for builds, tests, git and whatever has no tool of its own.',
  executor: (args, context) => (args.is_background ? runInBackground(args, context) : run(args, context)),
});

async function run(args: RunShellCommandArguments, context: ToolContext): Promise<ToolOutput> {
  const { result, timeoutMs } = await runCommand(context, args.command, {
    inactivityTimeoutMs: INACTIVITY_TIMEOUT_MS,
    ...present({ workingDirectory: args.dir_path }),
  });
  return {
    content: untrusted(report(result, timeoutMs)),
    isError: result.timedOut,
    details: commandDetails(result),
  };
}

function report(result: ExecResult, timeoutMs: number): string[] {
  const { stdout, stderr, exitCode, signal } = result;
  const output = stdout.trimEnd() + (stdout.trim() && stderr.trim() ? '\n' : '') + stderr.trimEnd();
  const lines = [`Output: ${output || '(empty)'}`];
  if (result.timedOut) {
    const why = result.inactive ? `${INACTIVITY_TIMEOUT_MS} ms without output` : `${timeoutMs} ms`;
    lines.push(`Error: the command was ended after ${why}.`);
  }
  if (exitCode !== undefined && exitCode !== 0) lines.push(`Exit Code: ${exitCode}`);
  if (signal !== undefined) lines.push(`Signal: ${signal}`);
  return lines;
}

async function runInBackground(args: RunShellCommandArguments, context: ToolContext): Promise<ToolOutput> {
  const started = await startInBackground(context, args.command, {
    timeoutMs: BACKGROUND_TIMEOUT_MS,
    ...present({ workingDirectory: args.dir_path }),
  });
  const waitMs = Math.min(args.delay_ms ?? 0, MAX_DELAY_MS);
  if (waitMs > 0) await delay(waitMs, undefined, { signal: context.signal }).catch(() => {});
  const { id, pid, outputFile } = started;
  const lines = [
    `Output: goes to ${outputFile}; read it with read_background_output.`,
    `Background PIDs: ${processNumber(started)}`,
    ...(pid === undefined ? [] : [`Process Group PGID: ${pid}`]),
  ];
  return { content: untrusted(lines), details: { processId: id, backgroundOutput: outputFile } };
}

/** What a command prints is data; the frame says so to the model, and a command cannot close it by itself. */
function untrusted(lines: readonly string[]): string {
  const text = lines.join('\n').replaceAll(/<(\/?)untrusted_context>/g, '<$1untrusted-context>');
  return `<untrusted_context>\n${text}\n</untrusted_context>`;
}
