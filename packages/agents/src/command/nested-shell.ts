import type { Command } from '../config.ts';
import type { TemplateProblem } from './template.ts';

/** Variables whose text is not ours: paths and names that Whetstone makes are plain. */
const FREE_TEXT = /\{(?:prompt|task_id|variant)\}/;

const SHELL = '(?:(?:ba|da|k|z)?sh|su)';
const SHELL_SCRIPT = new RegExp(String.raw`(?:^|[\s;&|(\x60/])${SHELL}\s+(?:-\S+\s+)*?-[A-Za-z]*c\s+`, 'g');
/** As the command itself: `tool eval …` is another program's business. */
const EVALUATED =
  /(?:^|[\n;&|(`])[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:(?:exec|command)[ \t]+)?(?:eval|ssh)\s/g;
const ARGUMENT = /^(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|[^\s"'\\])+/;
const REST_OF_COMMAND = /^(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|[^\n;|&"'\\])+/;

/**
 * Finds free text that a second shell would read: the script of `sh -c "…"`, the words of `eval` and of `ssh`. No quoting
 * for the first shell can keep such text from running in the second.
 */
export function nestedShellProblem(
  command: Command,
): { index: number; problem: TemplateProblem } | undefined {
  if (command.kind === 'argv') return nestedInArguments(command.argv);
  const { script } = command;
  const found = inside(script, SHELL_SCRIPT, ARGUMENT) ?? inside(script, EVALUATED, REST_OF_COMMAND);
  return found && { index: 0, problem: problem(found.offset, found.length) };
}

function inside(
  script: string,
  opening: RegExp,
  extent: RegExp,
): { offset: number; length: number } | undefined {
  for (const match of script.matchAll(opening)) {
    const start = match.index + match[0].length;
    const text = extent.exec(script.slice(start))?.[0] ?? '';
    const variable = FREE_TEXT.exec(text);
    if (variable) return { offset: start + variable.index, length: variable[0].length };
  }
  return undefined;
}

function nestedInArguments(argv: readonly string[]): { index: number; problem: TemplateProblem } | undefined {
  const shell = new RegExp(`^(?:.*/)?${SHELL}$`);
  for (const [index, argument] of argv.entries()) {
    const variable = FREE_TEXT.exec(argument);
    const isScript = /^-[A-Za-z]*c$/.test(argv[index - 1] ?? '');
    const ofShell = argv.slice(0, index - 1).some((word) => shell.test(word));
    if (variable && isScript && ofShell)
      return { index, problem: problem(variable.index, variable[0].length) };
  }
  return undefined;
}

function problem(offset: number, length: number): TemplateProblem {
  return {
    message: 'text of the task would be read as code by a second shell',
    hint: `hand it over as an argument (sh -c '… "$1"' sh {prompt}) or as a file ({prompt_file})`,
    offset,
    length,
  };
}
