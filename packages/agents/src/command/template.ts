import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import type { Command } from '../config.ts';
import { nestedShellProblem } from './nested-shell.ts';
import { renderShell } from './shell-quoting.ts';
import { planShell } from './shell-walk.ts';

/** What an agent's command template may name. */
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

/** A template in pieces. Offsets are UTF-16 code units of the template. */
export type Segment = { kind: 'text'; text: string } | { kind: 'variable'; name: string; offset: number };

export type TemplateProblem = { message: string; hint?: string; offset: number; length: number };

export type Template = { segments: Segment[]; problems: TemplateProblem[] };

/** Splits `text {name} text`; `{{` and `}}` are literal braces. Never throws: what is malformed is in `problems`. */
export function parseTemplate(template: string): Template {
  const segments: Segment[] = [];
  const problems: TemplateProblem[] = [];
  let text = '';
  let offset = 0;
  while (offset < template.length) {
    const pair = template.slice(offset, offset + 2);
    if (pair === '{{' || pair === '}}') {
      text += pair[0];
      offset += 2;
      continue;
    }
    if (pair[0] !== '{' && pair[0] !== '}') {
      text += pair[0];
      offset += 1;
      continue;
    }
    const placeholder = /^\{([A-Za-z_][A-Za-z0-9_]*)\}/.exec(template.slice(offset));
    const name = placeholder?.[1];
    if (placeholder && name !== undefined) {
      if (text !== '') segments.push({ kind: 'text', text });
      text = '';
      segments.push({ kind: 'variable', name, offset });
      offset += placeholder[0].length;
      continue;
    }
    const problem = malformed(template, offset);
    problems.push(problem);
    offset += problem.length;
  }
  if (text !== '') segments.push({ kind: 'text', text });
  return { segments, problems };
}

function malformed(template: string, offset: number): TemplateProblem {
  if (template[offset] === '}') {
    return { message: 'a } that closes nothing', hint: 'write }} for a literal }', offset, length: 1 };
  }
  const whole = /^\{[^{}\n]*\}/.exec(template.slice(offset))?.[0];
  if (whole === undefined) {
    return { message: 'a { that is not a variable', hint: 'write {{ for a literal {', offset, length: 1 };
  }
  return {
    message: `${whole} is not a variable`,
    hint: 'a variable is a plain {name}; write {{ and }} for literal braces',
    offset,
    length: whole.length,
  };
}

/** Unknown variables of a template, each with what was probably meant. */
export function unknownVariables(segments: readonly Segment[], known: readonly string[]): TemplateProblem[] {
  return segments.flatMap((segment) => {
    if (segment.kind === 'text' || known.includes(segment.name)) return [];
    return {
      message: `unknown variable {${segment.name}}`,
      hint: suggestion(segment.name, known).replace(/^did you mean (.*)\?/, 'did you mean {$1}?'),
      offset: segment.offset,
      length: segment.name.length + 2,
    };
  });
}

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

/** Everything that is wrong with a command template, by the string it stands in (0 for a shell script). */
export function commandProblems(
  command: Command,
  known: readonly string[],
): { index: number; text: string; problem: TemplateProblem }[] {
  const nested = nestedShellProblem(command);
  return commandParts(command).flatMap((text, index) => {
    const { segments, problems } = parseTemplate(text);
    const found = [...problems, ...unknownVariables(segments, known)];
    if (found.length === 0 && command.kind === 'shell') found.push(...planShell(segments).problems);
    if (nested?.index === index) found.push(nested.problem);
    return found.map((problem) => ({ index, text, problem }));
  });
}

/**
 * Fills a command template. In a shell script each value is quoted so that the program receives exactly its text and
 * nothing in it runs, whatever quotes the template already has around the variable. In an argument vector values are
 * put in as they are.
 *
 * @throws WhetstoneError `template-invalid` for a template that loading would have refused, `template-value-invalid` for a
 * variable without a value, and for values that no process can receive: with a NUL character, or longer than 128 KiB.
 */
export function renderCommand(command: Command, values: Partial<Record<TemplateVariable, string>>): Command {
  const [first] = commandProblems(command, COMMAND_VARIABLES);
  if (first) {
    throw new WhetstoneError('template-invalid', `Command template: ${first.problem.message}.`, {
      where: first.text,
      hint: first.problem.hint,
    });
  }
  const lookUp = (name: string) => commandValue(values, name);
  if (command.kind === 'argv') {
    const argv = command.argv.map((text) => fillTemplate(parseTemplate(text).segments, lookUp));
    return { kind: 'argv', argv: argv.map(assertSendable) };
  }
  const script = renderShell(planShell(parseTemplate(command.script).segments), lookUp);
  return { kind: 'shell', script: assertSendable(script) };
}

/** Linux takes at most this many bytes in one argument, the closing NUL included; a script is one argument of its shell. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

function assertSendable(argument: string): string {
  if (Buffer.byteLength(argument) <= MAX_ARGUMENT_BYTES) return argument;
  throw new WhetstoneError(
    'template-value-invalid',
    'The command is too long with its values: at most 128 KiB.',
    {
      hint: 'hand long texts over as a file: {prompt_file}',
    },
  );
}

/** Puts values in as they are. */
export function fillTemplate(segments: readonly Segment[], lookUp: (name: string) => string): string {
  return segments.map((segment) => (segment.kind === 'text' ? segment.text : lookUp(segment.name))).join('');
}

function commandValue(values: Partial<Record<string, string>>, name: string): string {
  const value = values[name];
  if (value === undefined) {
    throw new WhetstoneError(
      'template-value-invalid',
      `Command template: {${name}} has no value in this run.`,
      {
        hint: `take {${name}} out of the command`,
      },
    );
  }
  if (value.includes('\0')) {
    throw new WhetstoneError('template-value-invalid', `The value of {${name}} holds a NUL character.`, {
      hint: 'no program can receive a NUL in an argument; remove it, or hand the text over with {prompt_file}',
    });
  }
  return value;
}
