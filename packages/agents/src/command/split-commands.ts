import type { ShellRedirection, ShellToken, ShellWord } from './shell-lexer.ts';

/** The tokens of one command of a script, without the reserved words around it. */
export type CommandTokens = {
  /** Its words, assignments before the program included. Empty for what only a compound has, such as `done > file`. */
  words: ShellWord[];
  redirections: ShellRedirection[];
  /** The tokens of each substitution in it, also in the header of a loop and in the pattern of a `case`. */
  substitutions: ShellToken[][];
  /** The operator before it, such as `|`. */
  before: string;
  /** Whether a reserved word stands before it. */
  isInCompound: boolean;
};

/** Reserved words behind which a command begins, and those that end a compound. */
const RESERVED = new Set([
  ...['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'time'],
  ...['fi', 'done', '}', 'esac'],
]);
const HEADER = /^(?:for|select|case|function)$/;

/**
 * The commands of a script, in its order, each without its substitutions. The variable and the words of a loop, the
 * patterns of a `case` and the name of a function that is defined are not commands.
 */
export function splitCommands(tokens: readonly ShellToken[]): CommandTokens[] {
  const commands: CommandTokens[] = [];
  let command = noTokens('');
  let place: 'command' | 'header' | 'pattern' = 'command';
  let cases = 0;
  const finish = (isCommand: boolean, next: string): void => {
    commands.push(isCommand ? command : { ...command, words: [], isInCompound: true });
    command = noTokens(next);
  };
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'operator') {
      const isDefinition = token.text === '(' && command.words.length === 1 && isClosing(tokens[index + 1]);
      finish(place === 'command' && !isDefinition, token.text);
      if (place === 'header' || token.text === ')') place = 'command';
      if (token.text === ';;' && cases > 0) place = 'pattern';
      continue;
    }
    command.substitutions.push(...(token.kind === 'word' ? token : token.target).substitutions);
    if (token.kind === 'redirection') {
      command.redirections.push(token);
      continue;
    }
    const { text, isQuoted } = token;
    const isFirst = command.words.length === 0 && !isQuoted;
    if (isFirst && text === 'esac') {
      cases = Math.max(0, cases - 1);
      place = 'command';
    }
    if (place === 'header' && command.words.length === 2) {
      const [keyword] = command.words;
      if (keyword?.text === 'case') {
        if (text !== 'in') continue;
        finish(false, '');
        cases += 1;
        place = 'pattern';
        continue;
      }
      // `for x do …` and `function f { …` have no separator.
      if (keyword?.text === 'function' || text !== 'in') {
        finish(false, '');
        place = 'command';
      }
    }
    const isReserved = command.words.length === 0 && !isQuoted && RESERVED.has(text);
    if (isReserved && place === 'command') command.isInCompound = true;
    else if (isFirst && command.isInCompound && text === '-p') continue;
    else {
      if (isFirst && place === 'command' && HEADER.test(text)) place = 'header';
      command.words.push(token);
    }
  }
  finish(place === 'command', '');
  return commands;
}

const noTokens = (before: string): CommandTokens => ({
  words: [],
  redirections: [],
  substitutions: [],
  before,
  isInCompound: false,
});

const isClosing = (token: ShellToken | undefined): boolean =>
  token?.kind === 'operator' && token.text === ')';
