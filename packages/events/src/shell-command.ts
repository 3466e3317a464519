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
  if (!Array.isArray(value)) return JSON.stringify(value);
  const words = value.map((part) => commandLine(part));
  return onlyScript(words) ?? words.join(' ');
}

/** The name of a shell, without its folder; `undefined` for other programs. */
export const shellName = (program: string): string | undefined =>
  /^(?:.*\/)?(?<name>(?:ba|da|a|k|mk|z|fi)?sh)$/s.exec(program)?.groups?.name;

/** The script of `bash -lc '…'`, in which an agent runs what its model gave. `undefined` for any other command. */
export function onlyScript([program = '', option = '', script, ...others]: readonly string[]):
  | string
  | undefined {
  const shell = shellName(program);
  const isWrapper = shell !== undefined && shell !== 'fish' && /^-l?c$/.test(option) && others.length === 0;
  return isWrapper ? script : undefined;
}
