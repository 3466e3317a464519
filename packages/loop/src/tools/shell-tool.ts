import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { ExecResult } from '../environment/execution-environment.ts';
import { builtInTool } from './built-in-tool.ts';
import { integer, optional, text } from './parameters.ts';
import type { RegisteredTool, ToolContext } from './tool.ts';

export type ShellToolOptions = {
  /** Where neither the call nor the session's config says how long a command may run. Default: the config's maximum. */
  defaultTimeoutMs?: number;
  /** A command that prints nothing for so long is ended. */
  inactivityTimeoutMs?: number;
  /** Whether a command that fails is an error result; the families' own agents differ. */
  nonZeroExitIsError: boolean;
};

/** What the tools of every family call a command, and the note on its purpose, which only people read. */
export const COMMAND = text('The command line');
export const PURPOSE = optional(text('What the command is for, in a few words'));

/** Runs a command in the environment's shell (loop spec 3.3). */
export function createShellTool(options: ShellToolOptions): RegisteredTool {
  return builtInTool({
    name: 'shell',
    description:
      'Runs a command in the shell and returns its exit code, its duration and its output (stdout, then stderr). Each ' +
      `call starts in the working directory with a fresh shell and no standard input. ${describeLimits(options)}`,
    parameters: {
      command: COMMAND,
      timeout_ms: optional(integer('How long the command may run, in milliseconds', { minimum: 1 })),
      description: PURPOSE,
    },
    guidance:
      'for builds, tests, git and whatever has no tool of its own. Give long commands a timeout_ms; never start one that waits for input.',
    executor: async ({ command, timeout_ms: asked }, context) => {
      const limits = { ...options, ...present({ timeoutMs: asked }) };
      const { result, timeoutMs } = await runCommand(context, command, limits);
      const failed = result.timedOut || result.aborted;
      return {
        content: render(result, timeoutMs, options),
        isError: failed || (options.nonZeroExitIsError && result.exitCode !== 0),
        details: commandDetails(result),
      };
    },
  });
}

function describeLimits({ defaultTimeoutMs, inactivityTimeoutMs }: ShellToolOptions): string {
  if (defaultTimeoutMs !== undefined)
    return `A command that runs into its timeout is ended (default ${defaultTimeoutMs} ms).`;
  const silence =
    inactivityTimeoutMs === undefined ? '' : ` and one that prints nothing for ${inactivityTimeoutMs} ms`;
  return `A command that runs into its timeout${silence} is ended.`;
}

export type CommandLimits = Pick<ShellToolOptions, 'defaultTimeoutMs' | 'inactivityTimeoutMs'> & {
  timeoutMs?: number;
  workingDirectory?: string;
};

/** Runs a command. Its time limit: the call's, else the host's, else the default; never more than the host's maximum. */
export async function runCommand(
  { environment, signal, limits, onUpdate, sessionId: owner }: ToolContext,
  command: string,
  { timeoutMs: asked, defaultTimeoutMs, inactivityTimeoutMs, workingDirectory }: CommandLimits,
): Promise<{ result: ExecResult; timeoutMs: number }> {
  const wanted = asked ?? limits.defaultCommandTimeoutMs ?? defaultTimeoutMs ?? limits.maxCommandTimeoutMs;
  const timeoutMs = Math.min(wanted, limits.maxCommandTimeoutMs);
  const result = await environment.exec(command, {
    timeoutMs,
    owner,
    ...present({ inactivityTimeoutMs, workingDirectory }),
    signal,
    onOutput: ({ text }) => onUpdate(text),
  });
  return { result, timeoutMs };
}

/** What the host reads about a command. */
export function commandDetails(result: ExecResult): JsonObject {
  const { durationMs, timedOut, exitCode, signal, outputFile, droppedBytes } = result;
  const dropped = result.dropped ?? (droppedBytes > 0 ? { characters: droppedBytes } : undefined);
  return { durationMs, timedOut, ...present({ exitCode, signal, outputFile, dropped }) };
}

function render(result: ExecResult, timeoutMs: number, options: ShellToolOptions): string {
  const exit =
    result.exitCode === undefined ? `none (${result.signal ?? 'killed'})` : String(result.exitCode);
  const output = [result.stdout, result.stderr].filter((text) => text !== '').map(endWithLineBreak);
  const lines = [`Exit code: ${exit}`, `Duration: ${(result.durationMs / 1000).toFixed(1)} s`, 'Output:'];
  const text = `${lines.join('\n')}\n${output.join('') || '(none)\n'}`;
  if (!result.timedOut) return text.trimEnd();
  if (result.inactive)
    return `${text}[ERROR: Command was ended after ${options.inactivityTimeoutMs}ms without output. Partial output is shown above.]`;
  return (
    `${text}[ERROR: Command timed out after ${timeoutMs}ms. Partial output is shown above.\n` +
    'You can retry with a longer timeout by setting the timeout_ms parameter.]'
  );
}

function endWithLineBreak(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
