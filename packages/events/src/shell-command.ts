import { isJsonObject, type JsonValue } from './json.ts';

/** The names of the tools with which the known agents run a shell command. */
const SHELL_TOOLS = new Set([
  'shell',
  'bash',
  'Bash',
  'exec_command',
  'shell_command',
  'local_shell',
  'command_execution',
  'run_shell_command',
]);

/** The command of a call of a shell tool; `undefined` for other tools. */
export function shellCommand({ name, input }: { name: string; input: JsonValue }): ShellCommand | undefined {
  if (!SHELL_TOOLS.has(name)) return undefined;
  const value = isJsonObject(input) ? (input.command ?? input.cmd ?? input) : input;
  return { line: commandLine(value), value };
}

export type ShellCommand = {
  /** As the model gave it: without the shell that an agent runs it in. The words of a list are joined by spaces. */
  line: string;
  /** As it stands in the call: a script, or a list of words. */
  value: JsonValue;
};

function commandLine(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.length === 3 && /^(?:.*\/)?\w*sh -l?c$/.test(value.slice(0, 2).join(' ')))
    return commandLine(value[2] ?? '');
  if (Array.isArray(value)) return value.map((part) => commandLine(part)).join(' ');
  return JSON.stringify(value);
}
