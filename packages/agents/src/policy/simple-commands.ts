import { lexShell, type ShellToken, type ShellWord } from '../command/shell-lexer.ts';
import { UNKNOWN } from './text-pattern.ts';

/** One program that a script starts, and the files that its redirections write. */
export type SimpleCommand = {
  /** The words, assignments before the program included; `UNKNOWN` where the shell would replace something. */
  words: readonly string[];
  writes: readonly string[];
  /**
   * Whether an allowed script needs it to be allowed. Not needed are a shell whose script was read, and a second reading
   * of words that are checked already, such as `git push` in `sudo git push`.
   */
  isNeeded: boolean;
};

export type ReadScript = {
  commands: SimpleCommand[];
  /** False where a part could not be read, so that it may start something else. */
  isWhole: boolean;
};

const SHELL = /^(?:.*\/)?(?:ba|da|a|k|mk|z|fi)?sh$/;
/** Options of a shell that change nothing of what its script starts. */
const PLAIN_OPTION = /^-[leuxvin]*c?$|^--(?:login|norc|noprofile|posix)$/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** Words before a command, and words that are not commands. */
const BEFORE_COMMAND = /^(?:then|do|else|elif|if|while|until|!|\{|time)$/;
const NOT_A_COMMAND = /^(?:for|select|case|done|fi|esac|\}|in)$/;
/** Programs that run the command in their arguments, or their arguments as a script. */
const WRAPPER =
  /^(?:.*\/)?(?:exec|command|builtin|env|nohup|time|timeout|nice|ionice|stdbuf|setsid|sudo|doas|xargs|find|parallel|watch|npx|su|runuser|ssh|chroot|unshare|flock|strace|script)$/;
const EVALUATOR = /^(?:eval|source|\.|trap|alias)$/;
/** Arithmetic, which may also be two subshells: its commands are not read. */
const UNREAD = /\(\(|\$\[/;
const DEPTH_LIMIT = 8;

/**
 * Every command that a shell script starts, also in substitutions, pipelines, compounds, and in the script of
 * `bash -lc '…'`. Never throws.
 */
export function simpleCommandsIn(script: string, depth = 0): ReadScript {
  const { tokens, unclosedQuote } = lexShell(script, []);
  const isReadable = unclosedQuote === undefined && !UNREAD.test(script) && !script.includes(UNKNOWN);
  const read: ReadScript = { commands: [], isWhole: isReadable && depth < DEPTH_LIMIT };
  if (depth < DEPTH_LIMIT) readTokens(tokens, script, read, depth);
  return read;
}

function readTokens(tokens: readonly ShellToken[], script: string, into: ReadScript, depth: number): void {
  let words: ShellWord[] = [];
  let writes: string[] = [];
  for (const token of [...tokens, { kind: 'operator', text: '' } as const]) {
    if (token.kind === 'operator') {
      if (words.length > 0 || writes.length > 0) addCommand(words, writes, into, depth);
      words = [];
      writes = [];
      continue;
    }
    const word = token.kind === 'word' ? token : token.target;
    for (const inner of word.substitutions) readTokens(inner, script, into, depth);
    if (token.kind === 'word') {
      if (words.length > 0 || !BEFORE_COMMAND.test(token.text)) words.push(token);
    } else if (token.text.includes('<<')) {
      const body = script.slice(token.body.start, token.body.end);
      // The shell runs the substitutions of a here-document, and a shell runs the document itself.
      const runs = (!token.target.isQuoted && /\$\(|`/.test(body)) || token.target.isExpanded;
      if (runs || words.some(({ text }) => SHELL.test(text))) into.isWhole = false;
    } else if (token.text.includes('>') && !/^\d*>&$/.test(token.text)) writes.push(shown(token.target));
  }
}

function addCommand(words: ShellWord[], writes: string[], into: ReadScript, depth: number): void {
  const first = words[0]?.text ?? '';
  if (NOT_A_COMMAND.test(first)) {
    if (writes.length > 0) into.commands.push({ words: [], writes, isNeeded: false });
    return;
  }
  const texts = words.map(shown);
  const program = texts.findIndex((text) => !ASSIGNMENT.test(text));
  if (program < 0) {
    into.commands.push({ words: texts, writes, isNeeded: true });
    return;
  }
  const name = texts[program] ?? '';
  const inner = SHELL.test(name) ? scriptOf(texts.slice(program + 1)) : undefined;
  into.commands.push({ words: texts, writes, isNeeded: !(inner?.isPlain && program === 0) });
  if (inner) readInner(inner.script, into, depth);
  else if (SHELL.test(name) && texts.length === program + 1) into.isWhole = false;
  if (EVALUATOR.test(name)) into.isWhole = false;
  if (WRAPPER.test(name)) {
    // Where the wrapped command begins depends on the wrapper's options, so every beginning counts.
    for (let start = program + 1; start < words.length && start <= program + 12; start++) {
      const nested: ReadScript = { commands: [], isWhole: true };
      if (depth + 1 < DEPTH_LIMIT) addCommand(words.slice(start), [], nested, DEPTH_LIMIT - 1);
      into.commands.push(...nested.commands.map((command) => ({ ...command, isNeeded: false })));
      const tail = texts.slice(start);
      const wrapped = SHELL.test(tail[0] ?? '') ? scriptOf(tail.slice(1)) : undefined;
      if (wrapped) readInner(wrapped.script, into, depth);
    }
  }
}

function readInner(script: string, into: ReadScript, depth: number): void {
  const read = simpleCommandsIn(script, depth + 1);
  into.commands.push(...read.commands);
  into.isWhole &&= read.isWhole;
}

/** The script of `sh -c`; `undefined` if the shell runs a file or its input. */
function scriptOf(words: readonly string[]): { script: string; isPlain: boolean } | undefined {
  let isPlain = true;
  for (const [index, word] of words.entries()) {
    if (/^-[A-Za-z]*c$/.test(word)) {
      const script = words[index + 1];
      return script === undefined ? undefined : { script, isPlain: isPlain && PLAIN_OPTION.test(word) };
    }
    const isOperandOf = /^(?:[-+][A-Za-z]*[oO]|--(?:rc|init-)file)$/.test(words[index - 1] ?? '');
    if (!/^[-+]/.test(word) && !isOperandOf) return undefined;
    isPlain &&= PLAIN_OPTION.test(word) || (isOperandOf && word === 'pipefail') || word === '-o';
  }
  return undefined;
}

/** A word with `UNKNOWN` for what the shell replaces. A quoted brace is taken for an expansion, too. */
function shown({ text, isExpanded }: ShellWord): string {
  const isReplaced = isExpanded || /\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(text) || text.startsWith('~');
  if (!isReplaced) return text;
  const start = text.search(/[$`*?[{~]/);
  return `${start < 0 ? '' : text.slice(0, start)}${UNKNOWN}`;
}
