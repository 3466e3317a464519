import type { Command } from '../config.ts';
import type { LexedScript, Range, ShellToken, ShellWord } from './shell-lexer.ts';
import { holesIn, lexTemplate, scriptsIn } from './shell-template.ts';
import { ASSIGNMENT } from './simple-commands.ts';
import { splitCommands } from './split-commands.ts';
import type { TemplateProblem } from './template.ts';

/** Variables whose text comes from a task. The others are paths and names that Whetstone makes. */
const FREE_TEXT = new Set(['prompt', 'task_id', 'variant']);

const SHELL = /^(?:.*\/)?(?:(?:ba|da|a|k|mk|z|fi)?sh|su|runuser)$|^\$\{?(?:SHELL|BASH)\}?$/;
/** These also take options behind their operands. */
const USER_SWITCH = /^(?:.*\/)?(?:su|runuser)$/;
const ENV = /^(?:.*\/)?env$/;
/** Options whose value is code, of a shell (`bash -lc`) and of `env` (`env -iS`). */
const SCRIPT_OPTION = /^-[A-Za-z]*c|^--(?:session-)?command/;
const SPLIT_OPTION = /^-[A-Za-z0]*S|^--split-string/;
/** Options of a shell and of `ssh` whose value is not code. */
const OPTION_WITH_VALUE = /^(?:[-+][A-Za-z]*[oO]|--(?:rc|init-)file)$/;
const SSH_OPTION_WITH_VALUE = /^-[A-Za-z46]*[BbcDEeFIiJLlmOopQRSWw]$/;
/** Commands that read their own arguments as code, and commands that run the command in their arguments. */
const EVALUATOR = /^(?:eval|trap|let|alias|(?:.*\/)?ssh)$/;
const WRAPPER =
  /^(?:.*\/)?(?:exec|command|builtin|env|nohup|time|timeout|nice|ionice|stdbuf|setsid|sudo|doas|xargs)$/;

/** An argument or an input of a command, and the place of the first variable in it that is free text. */
type Text = { text: string; freeText: Span | undefined };
/** `index` is that of the argument, 0 in a shell script. */
type Span = { index: number; offset: number; length: number };

/**
 * Finds free text that a second shell would read: the script of `sh -c "…"`, the words of `eval` and of `ssh`, a
 * here-document for a shell. No quoting for the first shell can keep such text from running in the second.
 */
export function nestedShellProblem(
  command: Command,
): { index: number; problem: TemplateProblem } | undefined {
  const code =
    command.kind === 'shell'
      ? codeIn(lexTemplate(command.script))
      : codeAmong(command.argv.map(argument), []);
  const found = code.find(({ freeText }) => freeText)?.freeText;
  if (!found) return undefined;
  const { index, ...place } = found;
  const message = 'text of the task would be read as code by a second shell';
  const hint = `pass it as an argument (sh -c '… "$1"' sh {prompt}) or as a file ({prompt_file})`;
  return { index, problem: { message, hint, ...place } };
}

function argument(template: string, index: number): Text {
  const lexed = lexTemplate(template);
  return { text: template, freeText: freeTextIn(lexed, { start: 0, end: lexed.script.length }, index) };
}

function freeTextIn(lexed: LexedScript, range: Range, index = 0): Span | undefined {
  const hole = holesIn(lexed, range).find(({ name }) => FREE_TEXT.has(name));
  return hole && { index, offset: hole.offset, length: hole.name.length + 2 };
}

function codeIn(whole: LexedScript): Text[] {
  return [...scriptsIn(whole)].flatMap(({ lexed, isQuoted }) => {
    const toText = (part: Range & { text?: string }): Text => ({
      text: part.text ?? '',
      freeText: freeTextIn(lexed, part),
    });
    // A quoted text may be a script or prose. A shell with an option for a script in it is a sign of a script.
    const codeOf = isQuoted ? scriptsOfShells : codeAmong;
    return [...simpleCommands(lexed.tokens)].flatMap(({ words, input }) =>
      codeOf(words.map(toText), input.map(toText)),
    );
  });
}

/** The commands of a script: their words from the program on, and the texts on their standard input. */
function* simpleCommands(tokens: readonly ShellToken[]): Generator<{ words: ShellWord[]; input: Range[] }> {
  let piped: ShellWord[] = [];
  for (const { words: all, redirections, before } of splitCommands(tokens)) {
    const first = all.findIndex(({ text }) => !ASSIGNMENT.test(text));
    const words = first < 0 ? [] : all.slice(first);
    const documents = redirections.filter(({ text }) => text.includes('<<'));
    const input = documents.flatMap(({ body, target }) => [body, target]);
    yield { words, input: [...(before === '|' ? piped : []), ...input] };
    piped = /^(?:echo|printf|cat)$/.test(words[0]?.text ?? '') ? words : [];
  }
}

/** The arguments and inputs of a command that a second shell reads as code. */
function codeAmong(words: readonly Text[], input: readonly Text[]): readonly Text[] {
  const found = words.findIndex(
    ({ text }, index) => EVALUATOR.test(text) && (index === 0 || isWrapper(words[0])),
  );
  if (found === -1) return scriptsOfShells(words, input);
  const code = words.slice(found + 1);
  const operands = code.filter(
    ({ text }, index) => !text.startsWith('-') && !SSH_OPTION_WITH_VALUE.test(code[index - 1]?.text ?? ''),
  );
  return operands.length === 1 ? [...code, ...input] : code;
}

function scriptsOfShells(words: readonly Text[], input: readonly Text[]): readonly Text[] {
  return words.flatMap(({ text }, index) => {
    if (!SHELL.test(text) && !ENV.test(text)) return [];
    return scriptOf(text, words.slice(index + 1), index === 0 || isWrapper(words[0]) ? input : []);
  });
}

const isWrapper = (word: Text | undefined): boolean => WRAPPER.test(word?.text ?? '');

/** What a shell with these arguments runs: the value of an option, or its input if it has no file to run. */
function scriptOf(shell: string, words: readonly Text[], input: readonly Text[]): readonly Text[] {
  const isEnv = ENV.test(shell);
  let readsInput = false;
  for (const [index, { text }] of words.entries()) {
    if ((isEnv ? SPLIT_OPTION : SCRIPT_OPTION).test(text)) {
      const value = words.findIndex((next, after) => after > index && !/^[-+]/.test(next.text));
      return words.slice(index, value === -1 ? undefined : value + 1);
    }
    readsInput ||= /^-[A-Za-z]*s/.test(text);
    const isOperand = !/^[-+]/.test(text) && !OPTION_WITH_VALUE.test(words[index - 1]?.text ?? '');
    if (isOperand && isEnv && !ASSIGNMENT.test(text)) return [];
    if (isOperand && !isEnv && !USER_SWITCH.test(shell)) return readsInput ? input : [];
  }
  return input;
}
