import { setTimeout as delay } from 'node:timers/promises';
import { readFile } from '../../files/file-access.ts';
import { builtInTool } from '../built-in-tool.ts';
import { integer, optional } from '../parameters.ts';
import { backgroundCommands } from '../process-sessions.ts';
import type { ToolContext } from '../tool.ts';

type Command = ReturnType<typeof backgroundCommands>[number];

/** Where the environment's processes have no numbers of their own, the session's take their place. */
export function processNumber({ pid, id }: Pick<Command, 'pid' | 'id'>): number {
  return pid ?? Number(id);
}

/** Lists what `run_shell_command` with `is_background` has started. */
export const listBackgroundProcessesTool = builtInTool({
  name: 'list_background_processes',
  description: 'Lists the commands that were started in the background, those that have ended too.',
  parameters: {},
  exemptFromLoopDetection: true,
  executor: (_args, context) =>
    backgroundCommands(context).map(describe).join('\n') || 'No background processes found.',
});

function describe(command: Command): string {
  const exit = command.state.kind === 'exited' ? command.state : undefined;
  const exitCode = exit?.exitCode === undefined ? '' : ` (Exit Code: ${exit.exitCode})`;
  const signal = exit?.signal === undefined ? '' : ` (Signal: ${exit.signal})`;
  const status = command.state.kind.toUpperCase();
  return `- [PID ${processNumber(command)}] ${status}: \`${command.command}\`${exitCode}${signal}`;
}

const DEFAULT_LINES = 100;
const MAX_BYTES = 64 * 1024;
const MAX_DELAY_MS = 60_000;

export const readBackgroundOutputTool = builtInTool({
  name: 'read_background_output',
  description: 'Shows the end of what a command in the background has printed.',
  parameters: {
    pid: integer('The number that run_shell_command gave'),
    lines: optional(integer(`Lines to show (default ${DEFAULT_LINES})`, { minimum: 1 })),
    delay_ms: optional(integer('How long to wait first', { minimum: 0 })),
  },
  output: { maxChars: 40_000, mode: 'tail' },
  exemptFromLoopDetection: true,
  executor: async ({ pid, lines = DEFAULT_LINES, delay_ms: wait = 0 }, context) => {
    const command = backgroundCommands(context).find((one) => processNumber(one) === pid);
    if (!command) throw new Error(`there is no background process ${pid} of this session`);
    await delay(Math.min(wait, MAX_DELAY_MS), undefined, { signal: context.signal }).catch(() => {});
    return await tail(context, command.outputFile, lines);
  },
});

async function tail({ environment }: ToolContext, file: string, most: number): Promise<string> {
  const bytes = await readFile(environment, file);
  if (bytes.length === 0) return 'Log is empty.';
  const rows = new TextDecoder().decode(bytes.subarray(-MAX_BYTES)).split('\n');
  if (rows.at(-1) === '') rows.pop();
  // The first line is whole only where the file was read from its beginning.
  const cut = bytes.length > MAX_BYTES;
  if (cut && rows.length > 1) rows.shift();
  const shown = rows.slice(-most);
  if (!cut && shown.length === rows.length) return `Full Log Output:\n${shown.join('\n')}`;
  return `Showing last ${shown.length} ${cut ? 'lines' : `of ${rows.length} lines`}:\n${shown.join('\n')}`;
}
