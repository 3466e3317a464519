import type { Command } from '../config.ts';

/** Shell words that come before the command that matters, up to the next separator. */
const PRELUDES = new Set(['cd', 'set', 'export', 'unset', 'umask', 'ulimit', 'trap', ':']);
/** Words that run what follows them. */
const PREFIXES = new Set(['exec', 'command', 'env', 'nohup', 'time']);
/** Words of the shell itself: what runs behind them only the shell knows. */
const SHELL_WORDS = new Set(
  '! { {{ ( [[ . alias break case continue do done elif else esac eval exit fi for function if in readonly return shift source then until wait while'.split(
    ' ',
  ),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * The program that a command starts, as it is written: `codex`, `./agent.sh`, `{workspace}/run.sh`. Skips assignments
 * (`KEY=1 codex`), preludes (`cd x && codex`) and redirections. `undefined` where the text does not say: `$TOOL run`,
 * `if …`, a pipeline's later members are not looked at.
 */
export function executableOf(command: Command): string | undefined {
  if (command.kind === 'argv') return command.argv[0];
  let prelude = false;
  let prefixed = false;
  let redirection = false;
  for (const token of tokens(command.script)) {
    if (token.kind === 'separator') {
      if (!prelude && prefixed) return undefined;
      prelude = false;
      continue;
    }
    if (token.kind === 'redirection') {
      redirection = true;
      continue;
    }
    // A command substitution holds words of its own, which must not be taken for the command.
    if (token.expands && token.written.endsWith('$')) return undefined;
    if (redirection) {
      redirection = false;
      continue;
    }
    if (prelude || ASSIGNMENT.test(token.written)) continue;
    if (prefixed && token.text.startsWith('-')) return undefined;
    if (!token.quoted && PRELUDES.has(token.text)) prelude = true;
    else if (!token.quoted && PREFIXES.has(token.text)) prefixed = true;
    else if (token.expands || (!token.quoted && SHELL_WORDS.has(token.text))) return undefined;
    else return token.text;
  }
  return undefined;
}

type Token =
  | { kind: 'word'; text: string; written: string; quoted: boolean; expands: boolean }
  | { kind: 'separator' }
  | { kind: 'redirection' };

const BLANK = /^(?:[ \t\r]|\\\n)+/;
const COMMENT = /^#[^\n]*/;
const SEPARATOR = /^(?:&&|\|\||[;&|\n()])/;
const REDIRECTION = /^[0-9]*(?:<<-?|>>|<&|>&|<>|>\||[<>])/;
const WORD_PIECE = /^(?:'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\;&|()<>]))/;

/** Words and separators, as far as quoting alone tells them apart; stops where a quote is never closed. */
function* tokens(script: string): Generator<Token> {
  let rest = script;
  while (rest !== '') {
    const skipped = BLANK.exec(rest) ?? COMMENT.exec(rest);
    if (skipped) {
      rest = rest.slice(skipped[0].length);
      continue;
    }
    const redirection = REDIRECTION.exec(rest);
    const separator = SEPARATOR.exec(rest);
    if (redirection ?? separator) {
      yield { kind: redirection ? 'redirection' : 'separator' };
      rest = rest.slice((redirection ?? separator)?.[0].length);
      continue;
    }
    const word = readWord(rest);
    if (!word) return;
    yield word;
    rest = rest.slice(word.written.length);
  }
}

function readWord(script: string): Extract<Token, { kind: 'word' }> | undefined {
  let text = '';
  let written = '';
  let quoted = false;
  let expands = false;
  for (let piece = WORD_PIECE.exec(script); piece; piece = WORD_PIECE.exec(script.slice(written.length))) {
    const [whole, single, double, escaped, plain] = piece;
    written += whole;
    text += single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? plain ?? '';
    quoted ||= plain === undefined;
    expands ||= /[$`]/.test(plain ?? double ?? '') || (plain !== undefined && /[*?[]/.test(plain));
  }
  return written === '' ? undefined : { kind: 'word', text, written, quoted, expands };
}
