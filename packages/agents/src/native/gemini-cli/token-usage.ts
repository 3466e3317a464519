import type { JsonObject, Usage } from '@whetstone/events';
import { tokensIn } from '../../kit/fields.ts';

/**
 * The usage in `tokens` of a session file's message and of the output format `json`. `input` (there `prompt`) includes
 * `cached`; `output` (there `candidates`) leaves out `thoughts`; provider-side tools add `tool` to the prompt.
 */
export function tokenUsage(tokens: JsonObject): Usage {
  const input = tokensIn(tokens.prompt ?? tokens.input);
  const cached = Math.min(input, tokensIn(tokens.cached));
  const thoughts = tokensIn(tokens.thoughts);
  return {
    inputTokens: input - cached + tokensIn(tokens.tool),
    outputTokens: tokensIn(tokens.candidates ?? tokens.output) + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
}
