import type { Command } from '../config.ts';
import { lexTemplate, wordText } from './shell-template.ts';

/** Shell words that come before the command that matters, up to the next separator. */
const PRELUDES = new Set(['cd', 'set', 'export', 'unset', 'umask', 'ulimit', 'trap', ':']);
/** Words that run what follows them. */
const PREFIXES = new Set(['exec', 'command', 'env', 'nohup', 'time']);
/** Words of the shell itself: what runs behind them only the shell knows. */
const SHELL_WORDS =
  /^(?:[!{(.]|\[\[|alias|break|case|continue|do|done|elif|else|esac|eval|exit|fi|for|function|if|in|readonly|return|shift|source|then|until|wait|while)$/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * The program that a command template starts, as it is written: `codex`, `./agent.sh`, `{workspace}/run.sh`. Skips
 * assignments (`KEY=1 codex`), preludes (`cd x && codex`) and redirections. `undefined` where the text does not say
 * (`$TOOL run`, `if …`) or where a substitution runs another program first. Later members of a pipeline do not count.
 */
export function executableOf(command: Command): string | undefined {
  if (command.kind === 'argv') return command.argv[0];
  const lexed = lexTemplate(command.script);
  const { script, tokens, unclosedQuote } = lexed;
  let prelude = false;
  let prefixed = false;
  for (const token of tokens) {
    if (token.kind === 'operator') {
      if (!prelude && prefixed) return undefined;
      prelude = false;
      continue;
    }
    const word = token.kind === 'word' ? token : token.target;
    const isUnclosed = unclosedQuote !== undefined && word.end === script.length;
    if (isUnclosed || word.substitutions.length > 0) return undefined;
    const written = script.slice(word.start, word.end);
    if (token.kind === 'redirection' || prelude || ASSIGNMENT.test(written)) continue;
    const { text, isQuoted, isExpanded } = word;
    if (prefixed && text.startsWith('-')) return undefined;
    if (!isQuoted && PRELUDES.has(text)) prelude = true;
    else if (!isQuoted && PREFIXES.has(text)) prefixed = true;
    else if (isExpanded || (!isQuoted && SHELL_WORDS.test(text))) return undefined;
    else return wordText(lexed, word, (name) => `{${name}}`);
  }
  return undefined;
}
