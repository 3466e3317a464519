import { WhetstoneError } from '@whetstone/errors';
import type { CommandResult, RunOptions, Sandbox } from '@whetstone/sandbox';
import type { Command, CommandAgentConfig } from '../config.ts';
import { nativeAgentOf } from '../native/native-agents.ts';
import { nestedShellProblem } from './nested-shell.ts';
import { lexTemplate, renderShell, scriptsIn, shellTemplateProblems, wordText } from './shell-template.ts';
import { fillTemplate, parseTemplate, type TemplateProblem, unknownVariables } from './template.ts';

/** The variables of command templates. */
export const COMMAND_VARIABLES = [
  'workspace',
  'prompt',
  'prompt_file',
  'task_id',
  'variant',
  'output_dir',
  'session_id',
  'telemetry_file',
  'gateway_url',
  'gateway_key',
] as const;

export type TemplateVariable = (typeof COMMAND_VARIABLES)[number];

/** Whether a part of a command template names a variable. */
export function namesVariable(part: string, variable: TemplateVariable): boolean {
  return parseTemplate(part).segments.some(
    (segment) => segment.kind === 'variable' && segment.name === variable,
  );
}

/** The strings of a command: its script, or its arguments. */
export function commandParts(command: Command): readonly string[] {
  return command.kind === 'shell' ? [command.script] : command.argv;
}

/** The command that resumes a session of an agent; `undefined` when nothing can. A protocol carries the session's id. */
export function resumeCommandOf({ kind, command, resumeCommand }: CommandAgentConfig): Command | undefined {
  if (resumeCommand) return resumeCommand;
  if (nativeAgentOf(kind)?.commandDialogue) return command;
  return commandParts(command).some((part) => namesVariable(part, 'session_id')) ? command : undefined;
}

/** Runs a command: a script with a shell, a list of arguments without one. */
export function runCommandIn(
  sandbox: Sandbox,
  command: Command,
  options: RunOptions,
): Promise<CommandResult> {
  if (command.kind === 'shell') return sandbox.runShell(command.script, options);
  const [program = '', ...args] = command.argv;
  return sandbox.runCommand(program, args, options);
}

/** The problems of a command template. `index` is that of the argument, 0 in a shell script. */
export function commandProblems(
  command: Command,
  known: readonly string[],
): { index: number; text: string; problem: TemplateProblem }[] {
  const nested = nestedShellProblem(command);
  return commandParts(command).flatMap((text, index) => {
    const { segments, problems } = parseTemplate(text);
    const found = [...problems, ...unknownVariables(segments, known)];
    if (found.length === 0 && command.kind === 'shell')
      found.push(...shellTemplateProblems(lexTemplate(text)));
    if (nested?.index === index) found.push(nested.problem);
    return found.map((problem) => ({ index, text, problem }));
  });
}

type Values = Partial<Record<TemplateVariable, string>>;

/**
 * Fills a command template. A shell script gets each value by reference: a variable of the shell is assigned in front
 * of the script. So a program receives exactly the text, and no part of it runs, whatever quotes the template has
 * around the variable. An argument vector contains the values as they are.
 *
 * @throws WhetstoneError `template-invalid` for a template that is refused when a config is loaded,
 * `template-value-invalid` for a variable without a value, and for values that no process can receive: those with a
 * NUL character or longer than 128 KiB.
 */
export function renderCommand(command: Command, values: Values): Command {
  const [first] = commandProblems(command, COMMAND_VARIABLES);
  if (first) {
    const { text: where, problem } = first;
    const message = `The command template is not valid: ${problem.message}.`;
    throw new WhetstoneError('template-invalid', message, { where, hint: problem.hint });
  }
  const words = commandWords(command, values);
  for (const word of words) assertSendable(word);
  if (command.kind === 'argv') return { kind: 'argv', argv: words };
  const script = renderShell(lexTemplate(command.script), lookUpIn(values));
  assertSendable(script);
  return { kind: 'shell', script };
}

/** The words of a command without quotes. For a shell script: of all its commands, then of the scripts inside it. */
export function commandWords(command: Command, values: Values): string[] {
  const lookUp = lookUpIn(values);
  if (command.kind === 'argv')
    return command.argv.map((text) => fillTemplate(parseTemplate(text).segments, lookUp));
  return [...scriptsIn(lexTemplate(command.script))].flatMap(({ lexed }) =>
    lexed.tokens.flatMap((token) => (token.kind === 'word' ? [wordText(lexed, token, lookUp)] : [])),
  );
}

/** Linux limits an argument to 128 KiB with its final NUL. A script is one argument of its shell. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

function assertSendable(argument: string): void {
  if (Buffer.byteLength(argument) <= MAX_ARGUMENT_BYTES) return;
  const message = 'The command is too long with its values: at most 128 KiB are possible.';
  throw unusable(message, 'Pass long texts as a file: {prompt_file}.');
}

function lookUpIn(values: Partial<Record<string, string>>): (name: string) => string {
  return (name) => {
    const value = values[name];
    if (value === undefined) {
      const hint = `Remove {${name}} from the command.`;
      throw unusable(`The command uses {${name}}, which has no value in this run.`, hint);
    }
    if (!value.includes('\0')) return value;
    throw unusable(
      `The value of {${name}} contains a NUL character.`,
      'No program can receive a NUL in an argument. Remove it, or pass the text as a file: {prompt_file}.',
    );
  };
}

const unusable = (message: string, hint: string): WhetstoneError =>
  new WhetstoneError('template-value-invalid', message, { hint });
