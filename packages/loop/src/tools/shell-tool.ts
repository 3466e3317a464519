import type { ExecResult } from '../environment/execution-environment.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';

type ShellArguments = { command: string; timeout_ms?: number; description?: string };

export type ShellToolOptions = {
  /** Where neither the call nor the session's config says how long a command may run. */
  defaultTimeoutMs: number;
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
        'call starts in the working directory with a fresh shell and no standard input. A command that runs into its ' +
        `timeout is ended (default ${options.defaultTimeoutMs} ms).`,
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

async function execute(
  args: ShellArguments,
  context: ToolContext,
  options: ShellToolOptions,
): Promise<ToolOutput> {
  const { environment, signal, limits, onUpdate } = context;
  const wanted = args.timeout_ms ?? limits.defaultCommandTimeoutMs ?? options.defaultTimeoutMs;
  const timeoutMs = Math.min(wanted, limits.maxCommandTimeoutMs);
  const result = await environment.exec(args.command, {
    timeoutMs,
    signal,
    onOutput: ({ text }) => onUpdate(text),
  });
  const failed = result.timedOut || result.aborted;
  return {
    content: render(result, timeoutMs),
    isError: failed || (options.nonZeroExitIsError && result.exitCode !== 0),
    details: {
      durationMs: result.durationMs,
      timedOut: result.timedOut,
      ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
      ...(result.signal === undefined ? {} : { signal: result.signal }),
    },
  };
}

function render(result: ExecResult, timeoutMs: number): string {
  const exit =
    result.exitCode === undefined ? `none (${result.signal ?? 'killed'})` : String(result.exitCode);
  const output = [result.stdout, result.stderr].filter((text) => text !== '').map(endWithLineBreak);
  const lines = [`Exit code: ${exit}`, `Duration: ${(result.durationMs / 1000).toFixed(1)} s`, 'Output:'];
  const text = `${lines.join('\n')}\n${output.join('') || '(none)\n'}`;
  if (!result.timedOut) return text.trimEnd();
  return (
    `${text}[ERROR: Command timed out after ${timeoutMs}ms. Partial output is shown above.\n` +
    'You can retry with a longer timeout by setting the timeout_ms parameter.]'
  );
}

function endWithLineBreak(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
