import type { JsonValue } from '@whetstone/events';
import { lexShell, type ShellToken, type ShellWord } from './shell-lexer.ts';

/** One word of a command, without quotes. */
export type CommandWord = {
  text: string;
  /** The shell puts a value in that only it knows: a parameter or the output of a command. `text` is as written. */
  isDynamic: boolean;
  /** The shell may replace the word by the names of files. */
  isGlob: boolean;
};

/** One program that a shell runs: its name without its folder, its arguments, and the files it is redirected to. */
export type SimpleCommand = {
  name: CommandWord;
  arguments: CommandWord[];
  redirections: Redirection[];
};

export type Redirection = CommandWord & { isOutput: boolean };

/**
 * The programs that a shell command runs, in the order of the text: behind `;`, `&&`, `|`, in substitutions, and behind
 * programs that run another one (`bash -lc '…'`, `sudo`, `env`, `timeout`), which stand before it. A list of words is
 * one command. Unlike a shell it follows neither functions nor aliases nor scripts in files.
 */
export function simpleCommands(command: JsonValue): SimpleCommand[] {
  if (typeof command === 'string') return commandsIn(lexShell(command, []).tokens);
  if (!Array.isArray(command)) return [];
  return withInner({ words: command.map((part) => plainWord(String(part))), redirections: [] });
}

type Parsed = { words: CommandWord[]; redirections: Redirection[] };

/** Reserved words that a command may follow. */
const BEFORE_COMMAND = new Set([
  ...['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'time'],
  ...['fi', 'done', '}', 'esac'],
]);

function commandsIn(tokens: readonly ShellToken[]): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let parsed: Parsed = { words: [], redirections: [] };
  let inner: SimpleCommand[] = [];
  /** The patterns of a `case` are words that nobody runs. */
  let isPattern = false;
  let isHeader = false;
  const finish = (isCommand: boolean): void => {
    if (isCommand) commands.push(...withInner(parsed));
    commands.push(...inner);
    parsed = { words: [], redirections: [] };
    inner = [];
    isHeader = false;
  };
  for (const token of tokens) {
    if (token.kind === 'operator') {
      // A name before `(` is a function that is defined here.
      finish(!isPattern && !isHeader && token.text !== '(');
      if (token.text === ')') isPattern = false;
      if (token.text === ';;') isPattern = true;
    } else if (token.kind === 'redirection') {
      inner.push(...substitutionsOf(token.target));
      if (!/<<-?$/.test(token.text) && !/&$/.test(token.text)) {
        parsed.redirections.push({ ...toWord(token.target), isOutput: token.text.includes('>') });
      }
    } else {
      inner.push(...substitutionsOf(token));
      const isFirst = parsed.words.length === 0 && !token.isQuoted;
      if (isFirst && token.text === 'esac') isPattern = false;
      if (isHeader && token.text === 'in') isPattern = parsed.words[0]?.text === 'case';
      if (isFirst && BEFORE_COMMAND.has(token.text)) continue;
      if (isFirst && /^(?:for|case|select|function)$/.test(token.text)) isHeader = true;
      if (isHeader && isPattern && token.text === 'in') finish(false);
      else if (!(isFirst && isAssignment(token.text))) parsed.words.push(toWord(token));
    }
  }
  finish(!isPattern && !isHeader);
  return commands;
}

const substitutionsOf = (word: ShellWord): SimpleCommand[] => word.substitutions.flatMap(commandsIn);

/** `$?`, `$$`, `$!` and `$#` are numbers. */
const DYNAMIC = /[`]|\$[\w{(['"@*-]/;

function toWord({ text, isExpanded }: ShellWord): CommandWord {
  return {
    text,
    isDynamic: isExpanded && DYNAMIC.test(text),
    isGlob: isExpanded && /[*?[]/.test(text),
  };
}

const plainWord = (text: string): CommandWord => ({ text, isDynamic: false, isGlob: false });
const isAssignment = (text: string): boolean => /^\w+\+?=/.test(text);

const SHELLS = /^(?:ba|z|da|k|a)?sh$/;
/** Programs that run the program named in their arguments: the options that take a value, and how many operands. */
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

/** The command, and those that it runs itself. */
function withInner({ words, redirections }: Parsed): SimpleCommand[] {
  const [first, ...rest] = words;
  if (!first) return [];
  const name = { ...first, text: first.text.replace(/^.*\//s, '') };
  return [{ name, arguments: rest, redirections }, ...commandsRunBy(name.text, rest)];
}

function commandsRunBy(name: string, words: readonly CommandWord[]): SimpleCommand[] {
  if (SHELLS.test(name)) {
    const flag = words.findIndex(({ text }) => /^-\w*c$/.test(text));
    const script = words[flag + 1];
    return flag === -1 || !script ? [] : simpleCommands(script.text);
  }
  if (name === 'eval') return simpleCommands(words.map(({ text }) => text).join(' '));
  const runner = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  if (!runner) return [];
  let at = 0;
  let operands = runner.operands;
  for (let word = words[at]; word; word = words[++at]) {
    if (runner.valued.test(word.text)) at += 1;
    else if (word.text.startsWith('-') || (name === 'env' && isAssignment(word.text))) continue;
    else if (operands-- <= 0) break;
  }
  return withInner({ words: words.slice(at), redirections: [] });
}
