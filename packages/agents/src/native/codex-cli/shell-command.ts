import { type JsonValue, onlyScript } from '@whetstone/events';
import { lexShell } from '../../command/shell-lexer.ts';
import { requiredText } from '../../kit/fields.ts';

/**
 * The command that the model gave. Codex runs it in a shell, and reports the words of both: as a list, or as a text with
 * quotes, such as `/bin/bash -lc 'echo one'`. Another command stays as it is.
 */
export function shellCommand(command: JsonValue | undefined): string {
  if (Array.isArray(command)) {
    const words = command.filter((word) => typeof word === 'string');
    return onlyScript(words) ?? words.join(' ');
  }
  const text = requiredText(command);
  const { tokens, unclosedQuote } = lexShell(text, []);
  if (unclosedQuote !== undefined) return text;
  const words = tokens.flatMap((token) => (token.kind === 'word' && !token.isExpanded ? token.text : []));
  return (words.length === tokens.length ? onlyScript(words) : undefined) ?? text;
}
