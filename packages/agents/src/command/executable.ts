import type { Command } from '../config.ts';
import { lexTemplate, wordText } from './shell-template.ts';

/** Commands that prepare for the one that matters. They end at the next separator. */
const PRELUDES = new Set(['cd', 'set', 'export', 'unset', 'umask', 'ulimit', 'trap', ':']);
/** Commands that run the command behind them. */
const PREFIXES = new Set(['exec', 'command', 'env', 'nohup', 'time']);
/** Words of the shell itself. Only the shell knows which program runs behind them. */
const SHELL_WORDS =
  /^(?:[!{(.]|\[\[|alias|break|case|continue|do|done|elif|else|esac|eval|exit|fi|for|function|if|in|readonly|return|shift|source|then|until|wait|while)$/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * The program that a command template starts, as it is written: `codex`, `./agent.sh`, `{workspace}/run.sh`. Skips
 * assignments (`KEY=1 codex`), preludes (`cd x && codex`) and redirections. `undefined` if the text does not say which
 * program it is (`$TOOL run`, `if …`) or if a substitution runs another program first. In a pipeline, the first counts.
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
