import type { JsonValue } from '@whetstone/events';
import { shellName } from '@whetstone/events/reading';
import { lexShell, type ShellRedirection, type ShellToken, type ShellWord } from './shell-lexer.ts';
import { type CommandTokens, splitCommands } from './split-commands.ts';

/** One word of a command, without quotes. */
export type CommandWord = {
  text: string;
  /** The shell puts a value in that only it knows: a parameter or the output of a command. `text` is as written. */
  isDynamic: boolean;
  /** The shell may replace the word by the names of files. */
  isGlob: boolean;
  /** The shell may replace a part of the word in any way, also by braces or `~`. A quoted brace counts, too. */
  isReplaced: boolean;
};

/** One program that a shell runs, and the files that it is redirected to. */
export type SimpleCommand = {
  /** `A=1` before the program. */
  assignments: CommandWord[];
  /** The program and its arguments. Empty where only a variable is set or a file is written. */
  words: CommandWord[];
  redirections: Redirection[];
  /** False where a program may run these of its arguments: the `b c` and the `c` of `find a b c`. */
  isCertain: boolean;
  /** Another command says all of it: a shell whose script was read, or words of another one, as in `sudo git push`. */
  isCovered: boolean;
};

export type Redirection = CommandWord & { isOutput: boolean };

export type ReadScript = {
  commands: SimpleCommand[];
  /** False where a part could not be read, so that it may start something else. */
  isWhole: boolean;
};

/** `A=1`, `A+=1`, and of an array in bash `A[i]=1`. */
export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[.*\])?\+?=/s;
/** An index with a blank: `A[1 + 1]=2` is one word in bash, and several here. */
const SPLIT_INDEX = /^[A-Za-z_]\w*\[[^\]]*$/;
/** Programs that run the command in their arguments. */
const WRAPPER =
  /^(?:exec|command|builtin|coproc|env|nohup|time|timeout|nice|ionice|stdbuf|setsid|sudo|doas|xargs|find|parallel|watch|npx|su|runuser|ssh|chroot|unshare|nsenter|flock|strace|script|repeat|noglob|nocorrect|busybox|toybox|setpriv|systemd-run|pkexec|fakeroot|taskset|chrt|prlimit)$/;
/** Those of them that also take it as one text. */
const SCRIPT_WRAPPER = /^(?:env|parallel|watch|su|runuser|ssh|flock|script)$/;
const EVALUATOR = /^(?:eval|source|\.|trap|alias)$/;
/** Wrappers whose command begins in a known place: the options that take a value, and how many operands come first. */
const RUNNERS: Record<string, { valued: RegExp; operands: number }> = {
  sudo: { valued: /^-[ugpCTUDRh]$|^--(?:user|group|prompt|host|chdir)$/, operands: 0 },
  env: { valued: /^-[uCS]$|^--(?:unset|chdir)$/, operands: 0 },
  timeout: { valued: /^-[ks]$|^--(?:kill-after|signal)$/, operands: 1 },
  nice: { valued: /^-n$|^--adjustment$/, operands: 0 },
  xargs: { valued: /^-[IELPnsdaJR]$/, operands: 0 },
  nohup: { valued: /^$/, operands: 0 },
  command: { valued: /^$/, operands: 0 },
  exec: { valued: /^-a$/, operands: 0 },
  time: { valued: /^-[of]$/, operands: 0 },
  setsid: { valued: /^$/, operands: 0 },
};
/** Arithmetic may also be two subshells, and `$'…'` ends elsewhere in other shells. `\0` is not part of the text of a script. */
const UNREAD = /\(\(|\$\[|\$'[^']*\\|\0/;
/** Backticks in backticks are read as a word. */
const hasNestedBackticks = (script: string): boolean =>
  script.includes('\\`') && /(?:^|[^\\])(?:\\\\)*`/.test(script);
const DEPTH_LIMIT = 8;
/** A wrapper's command begins within so many words. */
const MOST_STARTS = 12;

/**
 * The programs that a shell command runs, in the order of the text: behind `;`, `&&`, `|`, in substitutions, and behind
 * programs that run another one (`bash -lc '…'`, `sudo`, `env`, `timeout`), which stand before it. A list of words is
 * one command. Functions, aliases and scripts in files are not followed. Never throws.
 */
export function readScript(command: JsonValue): ReadScript {
  const into: ReadScript = { commands: [], isWhole: true };
  if (typeof command === 'string') {
    try {
      readText(command, into, 0, true);
    } catch (error) {
      // Thousands of substitutions in one another use up the stack.
      if (!(error instanceof RangeError)) throw error;
      into.isWhole = false;
    }
  } else if (Array.isArray(command)) {
    const words = command.map((part) => literal(String(part)));
    addCommand({ ...NOTHING, words }, into, 0);
  }
  return into;
}

/** The name of a program, without its folder. */
export const programOf = ({ words: [first] }: SimpleCommand): CommandWord | undefined =>
  first && { ...first, text: first.text.replace(/^.*\//s, '') };

function readText(script: string, into: ReadScript, depth: number, isCertain: boolean): void {
  const { tokens, unclosedQuote } = lexShell(script, []);
  const isClosed = unclosedQuote === undefined;
  const isRead = depth < DEPTH_LIMIT && isClosed && !UNREAD.test(script) && !hasNestedBackticks(script);
  into.isWhole &&= isRead;
  if (depth < DEPTH_LIMIT) readTokens(tokens, script, into, depth, isCertain);
}

const NOTHING = { assignments: [], words: [], redirections: [], isCertain: true, isCovered: false };

function readTokens(
  tokens: readonly ShellToken[],
  script: string,
  into: ReadScript,
  depth: number,
  isCertain: boolean,
): void {
  for (const part of splitCommands(tokens)) {
    const first = part.words.findIndex(({ text }) => !ASSIGNMENT.test(text));
    const program = first < 0 ? part.words.length : first;
    const redirections = part.redirections.flatMap(toRedirection);
    const words = part.words.map(toWord);
    if (words.length + redirections.length > 0) {
      const isCovered = words.length === 0 && part.isInCompound;
      const assignments = words.slice(0, program);
      const command = { assignments, words: words.slice(program), redirections, isCertain, isCovered };
      addCommand(command, into, depth);
    }
    for (const inner of part.substitutions) readTokens(inner, script, into, depth, isCertain);
    if (hidesMore(part, script) || SPLIT_INDEX.test(words[0]?.text ?? '')) into.isWhole = false;
  }
}

/** A here-document with substitutions or for a shell, and the short forms of compounds in zsh: `if [[ a ]] { b }`. */
const hidesMore = ({ words, redirections }: CommandTokens, script: string): boolean =>
  words.some(({ text, isQuoted }) => !isQuoted && /^[{}]$/.test(text)) ||
  redirections.some(({ text, target, body: { start, end } }) => {
    if (!text.includes('<<')) return false;
    const runs = !target.isQuoted && /\$\(|`/.test(script.slice(start, end));
    return runs || target.isExpanded || words.some((word) => shellName(word.text) !== undefined);
  });

/** Adds the command and those that it runs itself. */
function addCommand(command: SimpleCommand, into: ReadScript, depth: number): void {
  const { words, assignments, isCertain } = command;
  const own = { ...command };
  into.commands.push(own);
  own.isCovered ||= readShell(words, into, depth, isCertain) && assignments.length === 0;
  const name = programOf(command)?.text ?? '';
  const isLookUp = name === 'command' && /^-[vV]/.test(words[1]?.text ?? '');
  if (!WRAPPER.test(name) || isLookUp) return;
  const starts = certainStarts(words);
  into.isWhole &&= !words.slice(0, MOST_STARTS).some((_, at) => splitsText(words.slice(at)));
  for (let start = 1; start < words.length; start++) {
    const isSure = isCertain && starts.includes(start);
    if (start > MOST_STARTS && !isSure) continue;
    const inner = words.slice(start);
    into.commands.push({ ...NOTHING, words: inner, isCertain: isSure, isCovered: true });
    readShell(inner, into, depth, isSure);
    const text = inner[0]?.text ?? '';
    if (!SCRIPT_WRAPPER.test(name) || !/\s/.test(text)) continue;
    const read: ReadScript = { commands: [], isWhole: true };
    readText(text, read, depth + 1, false);
    into.commands.push(...read.commands.map((each) => ({ ...each, isCovered: true })));
  }
}

/** Reads the script of a shell, or the text of `eval`. True if that script is all that the shell does. */
function readShell(
  words: readonly CommandWord[],
  into: ReadScript,
  depth: number,
  isCertain: boolean,
): boolean {
  const [name = '', ...rest] = words.map(({ text }) => text);
  if (EVALUATOR.test(name)) into.isWhole = false;
  if (name === 'eval') readText(rest.join(' '), into, depth + 1, isCertain);
  const shell = shellName(name);
  if (shell === undefined) return false;
  const found = readsOf([name, ...rest]);
  if (found === 'input') into.isWhole = false;
  if (typeof found === 'string') return false;
  const script = words[found.index];
  if (!script) return false;
  // What the first shell puts into the script may be code, and fish has a language of its own.
  if (script.isReplaced || shell === 'fish') into.isWhole = false;
  readText(script.text, into, depth + 1, isCertain);
  return found.isPlain;
}

/** Options of a shell that change nothing of what its script starts. */
const PLAIN_OPTION = /^-[leuxvinc]+$|^--(?:login|norc|noprofile|posix)$/;
/** Options whose value is the next word. */
const VALUED_OPTION = /^[-+][A-Za-z]*[oO]|^--(?:rc|init-)file$/;
const INPUT_FILE = /^\/(?:dev\/(?:stdin|fd\/)|proc\/[^/]+\/fd\/)/;

/**
 * What a shell reads: the script at `index` of the words, its input, or a file. `isPlain`: no option decides what else the
 * script starts. Options may stand behind `-c`, too.
 */
function readsOf(words: readonly string[]): { index: number; isPlain: boolean } | 'input' | 'file' {
  let isPlain = true;
  let isScript = false;
  let isInput = false;
  let index = 1;
  for (; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!/^[-+]/.test(word)) break;
    if (/^--?$/.test(word)) {
      index += 1;
      break;
    }
    isScript ||= /^-[A-Za-z]*c/.test(word);
    isInput ||= /^-[A-Za-z]*s/.test(word);
    isPlain &&= PLAIN_OPTION.test(word) || (word === '-o' && words[index + 1] === 'pipefail');
    if (VALUED_OPTION.test(word)) index += 1;
  }
  if (isScript) return { index, isPlain };
  const file = words[index];
  return isInput || file === undefined || INPUT_FILE.test(file) ? 'input' : 'file';
}

/** Whether `env` makes a command of a text: `env -S'git push'`, whose escapes are its own. */
function splitsText(words: readonly CommandWord[]): boolean {
  if (words[0]?.text.replace(/^.*\//s, '') !== 'env') return false;
  const [start] = certainStarts(words);
  return words.slice(1, start).some(({ text }) => /^-[A-Za-z0]*S|^--s/.test(text));
}

/** Where the commands begin that a wrapper surely runs: in `sudo env A=1 rm x`, at `env` and at `rm`. */
function certainStarts(words: readonly CommandWord[]): number[] {
  const starts: number[] = [];
  for (let at = 0; at < words.length; ) {
    const name = words[at]?.text.replace(/^.*\//s, '') ?? '';
    const runner = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
    if (!runner) break;
    let operands = runner.operands;
    for (at += 1; at < words.length; at++) {
      const text = words[at]?.text ?? '';
      if (runner.valued.test(text)) at += 1;
      else if (text.startsWith('-') || (name === 'env' && ASSIGNMENT.test(text))) continue;
      else if (operands-- <= 0) break;
    }
    if (at < words.length) starts.push(at);
  }
  return starts;
}

/** `$?`, `$$`, `$!` and `$#` are numbers. */
const DYNAMIC = /[`]|\$[\w{(['"@*-]/;

function toWord({ text, isExpanded }: ShellWord): CommandWord {
  return {
    text,
    isDynamic: isExpanded && DYNAMIC.test(text),
    isGlob: isExpanded && /[*?[]/.test(text),
    isReplaced: isExpanded || /\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(text) || text.startsWith('~'),
  };
}

const literal = (text: string): CommandWord => ({ text, isDynamic: false, isGlob: false, isReplaced: false });

/** A file that is read or written. `2>&1` names none, and a here-document is text. */
function toRedirection({ text, target }: ShellRedirection): Redirection[] {
  const isDescriptor = text.endsWith('&') && /^(?:\d+-?|-)$/.test(target.text);
  if (isDescriptor || /<<-?$/.test(text)) return [];
  return [{ ...toWord(target), isOutput: text.includes('>') }];
}
