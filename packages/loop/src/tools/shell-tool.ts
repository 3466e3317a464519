import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { ExecResult } from '../environment/execution-environment.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';

type ShellArguments = { command: string; timeout_ms?: number; description?: string };

export type ShellToolOptions = {
  /** Where neither the call nor the session's config says how long a command may run. Default: the config's maximum. */
  defaultTimeoutMs?: number;
  /** A command that prints nothing for so long is ended. */
  inactivityTimeoutMs?: number;
  /** Whether a command that fails is an error result; the families' own agents differ. */
  nonZeroExitIsError: boolean;
};

/** Runs a command in the environment's shell (loop spec 3.3). */
export function createShellTool(options: ShellToolOptions): RegisteredTool {
  return defineTool<ShellArguments>({
    definition: {
      name: 'shell',
      description:
        'Runs a command in the shell and returns its exit code, its duration and its output (stdout, then stderr). Each ' +
        `call starts in the working directory with a fresh shell and no standard input. ${describeLimits(options)}`,
      parameters: {
        type: 'object',
        properties: {
          command: { type: 'string', description: 'The command line' },
          timeout_ms: {
            type: 'integer',
            minimum: 1,
            description: 'How long the command may run, in milliseconds',
          },
          description: { type: 'string', description: 'What the command is for, in a few words' },
        },
        required: ['command'],
      },
    },
    guidance:
      'for builds, tests, git and whatever has no tool of its own. Give long commands a timeout_ms; never start one that waits for input.',
    executor: (args, context) => execute(args, context, options),
  });
}

function describeLimits({ defaultTimeoutMs, inactivityTimeoutMs }: ShellToolOptions): string {
  if (defaultTimeoutMs !== undefined)
    return `A command that runs into its timeout is ended (default ${defaultTimeoutMs} ms).`;
  const silence =
    inactivityTimeoutMs === undefined ? '' : ` and one that prints nothing for ${inactivityTimeoutMs} ms`;
  return `A command that runs into its timeout${silence} is ended.`;
}

async function execute(
  args: ShellArguments,
  context: ToolContext,
  options: ShellToolOptions,
): Promise<ToolOutput> {
  const { result, timeoutMs } = await runCommand(context, args.command, {
    ...options,
    ...present({ timeoutMs: args.timeout_ms }),
  });
  const failed = result.timedOut || result.aborted;
  return {
    content: render(result, timeoutMs, options),
    isError: failed || (options.nonZeroExitIsError && result.exitCode !== 0),
    details: commandDetails(result),
  };
}

export type CommandLimits = Pick<ShellToolOptions, 'defaultTimeoutMs' | 'inactivityTimeoutMs'> & {
  /** What the call asks for. */
  timeoutMs?: number;
  workingDirectory?: string;
};

/** Runs a command to its end. The call's timeout beats the host's, the host's the default; the host's maximum beats all. */
export async function runCommand(
  { environment, signal, limits, onUpdate }: ToolContext,
  command: string,
  { timeoutMs: asked, defaultTimeoutMs, inactivityTimeoutMs, workingDirectory }: CommandLimits,
): Promise<{ result: ExecResult; timeoutMs: number }> {
  const wanted = asked ?? limits.defaultCommandTimeoutMs ?? defaultTimeoutMs ?? limits.maxCommandTimeoutMs;
  const timeoutMs = Math.min(wanted, limits.maxCommandTimeoutMs);
  const result = await environment.exec(command, {
    timeoutMs,
    ...present({ inactivityTimeoutMs, workingDirectory }),
    signal,
    onOutput: ({ text }) => onUpdate(text),
  });
  return { result, timeoutMs };
}

/** What the host is told about a command. */
export function commandDetails(result: ExecResult): JsonObject {
  return {
    durationMs: result.durationMs,
    timedOut: result.timedOut,
    ...present({ exitCode: result.exitCode, signal: result.signal, outputFile: result.outputFile }),
  };
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
