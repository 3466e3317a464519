import { present } from '@whetstone/events/present';
import { builtInTool } from '../built-in-tool.ts';
import { type Arguments, flag, number, optional, text } from '../parameters.ts';
import { findProcess, forgetProcess, startInBackground } from '../process-sessions.ts';
import { COMMAND, commandDetails, PURPOSE, runCommand } from '../shell-tool.ts';
import type { ToolContext, ToolOutput } from '../tool.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const BACKGROUND_TIMEOUT_MS = 1_800_000;
const MAX_BACKGROUND_TIMEOUT_MS = 7_200_000;

const parameters = {
  command: COMMAND,
  timeout: optional(number('How long it may run, in milliseconds', { minimum: 1 })),
  description: PURPOSE,
  run_in_background: optional(
    flag('Answer at once while the command runs on; its output goes to a file that Read shows'),
  ),
};

type BashArguments = Arguments<typeof parameters>;

export const bashTool = builtInTool({
  name: 'Bash',
  description:
    'Runs a command in bash and returns its output (stdout, then stderr). Each call starts in the working directory ' +
    `with a fresh shell and no standard input. A command is ended after its timeout (default ${DEFAULT_TIMEOUT_MS} ms).`,
  parameters,
  output: { maxChars: 30_000, maxLines: 256, mode: 'head_tail' },
  guidance: 'for builds, tests, git and whatever has no tool of its own; never for reading or editing files.',
  executor: (args, context) => (args.run_in_background ? runInBackground(args, context) : run(args, context)),
});

async function run({ command, timeout }: BashArguments, context: ToolContext): Promise<ToolOutput> {
  const { result, timeoutMs } = await runCommand(context, command, {
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    ...present({ timeoutMs: timeout }),
  });
  const lines = [result.stdout, result.stderr].map((text) => text.trimEnd()).filter((text) => text !== '');
  if (result.timedOut) lines.push(`Command timed out after ${timeoutMs} ms; set timeout to give it longer.`);
  else if (result.exitCode !== 0) lines.unshift(`Exit code ${result.exitCode ?? result.signal ?? 'none'}`);
  return {
    content: lines.join('\n') || '(no output)',
    isError: result.exitCode !== 0,
    details: commandDetails(result),
  };
}

async function runInBackground(args: BashArguments, context: ToolContext): Promise<ToolOutput> {
  const timeoutMs = Math.min(args.timeout ?? BACKGROUND_TIMEOUT_MS, MAX_BACKGROUND_TIMEOUT_MS);
  const { id, outputFile } = await startInBackground(context, args.command, { timeoutMs });
  return {
    content: `The command runs in the background with ID ${id}. Its output goes to ${outputFile}; read it with Read.`,
    details: { processId: id, backgroundOutput: outputFile },
  };
}

/** Ends what `Bash` has started in the background. */
export const taskStopTool = builtInTool({
  name: 'TaskStop',
  description: 'Ends a command that runs in the background.',
  parameters: {
    task_id: optional(text('The ID that Bash gave')),
    shell_id: optional(text('The same, by its earlier name')),
  },
  executor: async ({ task_id, shell_id }, context) => {
    const id = task_id ?? shell_id;
    if (id === undefined) throw new Error('task_id is missing');
    const process = findProcess(context, id);
    if (!process) throw new Error(`there is no background command ${id}`);
    const running = process.state.kind === 'running';
    await process.kill();
    forgetProcess(context, id);
    return running ? `Ended command ${id}.` : `Command ${id} had ended by itself.`;
  },
});
