import { anthropicCalls, anthropicTexts, ended, endingOfStop, type Item, type Read, sum, unique } from '../../__fixtures__/independent-reading.ts';

export const stream: Read = (items) => {
  const results = items.filter(({ type }) => type === 'result');
  const models: Item[] = results.flatMap((result) => Object.values(result.model_usage_since_last_result ?? {}));
  return {
    calls: unique(anthropicCalls(items)),
    texts: anthropicTexts(items),
    tokens: {
      input: sum(models.flatMap((m) => [m.inputTokens, m.cacheReadInputTokens, m.cacheCreationInputTokens])),
      output: sum(models.map(({ outputTokens }) => outputTokens)),
    },
    ending: results.length === 0 ? undefined : claudeEnding(results.at(-1)),
  };
};

const claudeEnding = ({ terminal_reason, is_error, subtype }: Item) =>
  terminal_reason === 'tool_deferred' ? 'waiting' : ended(!is_error && subtype === 'success');

export const transcript: Read = (items) => {
  const messages = new Map(
    items.filter(({ type }) => type === 'assistant').map(({ message }) => [message.id, message.usage]),
  );
  const usages = [...messages.values()];
  return {
    calls: unique(anthropicCalls(items)),
    texts: anthropicTexts(items),
    tokens: {
      input: sum(usages.flatMap((u) => [u.input_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens])),
      output: sum(usages.map(({ output_tokens }) => output_tokens)),
    },
    ending: endingOfStop(items.findLast(({ type }) => type === 'assistant')?.message, 'end_turn'),
  };
};
