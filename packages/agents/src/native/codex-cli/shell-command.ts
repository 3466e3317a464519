import type { JsonValue } from '@whetstone/events';
import { lexShell } from '../../command/shell-lexer.ts';
import { requiredText } from '../../kit/fields.ts';

/**
 * The command that the model gave. Codex runs it in a shell, and reports the words of both: as a list, or as a text with
 * quotes, such as `/bin/bash -lc 'echo one'`. Another command stays as it is.
 */
export function shellCommand(command: JsonValue | undefined): string {
  if (Array.isArray(command)) {
    const words = command.filter((word) => typeof word === 'string');
    return scriptIn(words) ?? words.join(' ');
  }
  const text = requiredText(command);
  const { tokens, unclosedQuote } = lexShell(text, []);
  if (unclosedQuote !== undefined) return text;
  const words = tokens.flatMap((token) => (token.kind === 'word' && !token.isExpanded ? token.text : []));
  return (words.length === tokens.length ? scriptIn(words) : undefined) ?? text;
}

const scriptIn = ([shell = '', option = '', script, ...others]: readonly string[]): string | undefined =>
  /^(?:.*\/)?(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(option) && others.length === 0
    ? script
    : undefined;
